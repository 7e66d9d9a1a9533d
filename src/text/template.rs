//! Jinja templates, rendered by minijinja. Values must not be read as templates or escaped; a
//! missing value renders as nothing.

use minijinja::{Environment, Error, UndefinedBehavior};
use serde_json::Value;

/// A template without syntax errors.
#[derive(Debug)]
pub struct Template(String);

impl Template {
    /// Parses a template; the error says what is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, Error> {
        environment().template_from_str(text)?;
        Ok(Self(text.to_owned()))
    }

    /// Renders it with these values.
    pub fn fill(&self, values: &Value) -> Result<String, Error> {
        environment().render_str(&self.0, minijinja::Value::from(minijinja::value::Serde(values)))
    }
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_formatter(|out, state, value| {
        if value.is_none() || value.is_undefined() {
            return Ok(());
        }
        minijinja::escape_formatter(out, state, value)
    });
    environment
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(template: &str, values: &Value) -> String {
        Template::parse(template).expect("a template").fill(values).expect("filled in")
    }

    #[test]
    fn values_are_neither_escaped_nor_read_as_templates() {
        let values = json!({ "a": "<{{ b }}>", "n": 3, "yes": true, "o": { "in": "deep" }, "none": null });
        assert_eq!(
            filled("{{ a }}|{{n}}|{{ yes }}|{{ o.in }}|{{ none }}{{ no.such }}|\n", &values),
            "<{{ b }}>|3|True|deep||"
        );
    }

    #[test]
    fn a_syntax_error_names_its_line() {
        let said = Template::parse("a\n{{ x").expect_err("a fault").to_string();
        assert!(said.starts_with("syntax error: ") && said.ends_with(":2)"), "{said}");
    }

    #[test]
    fn an_unknown_filter_is_an_error() {
        let template = Template::parse("{{ a | frobnicate }}");
        assert!(template.and_then(|template| template.fill(&json!({ "a": 1 }))).is_err());
    }
}
