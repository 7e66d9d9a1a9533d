//! The texts with places to fill in, in Jinja's language: takes a template and the values, gives the text. Must not read
//! what is filled in as a template, nor escape it; what is not there is filled in as nothing.

use minijinja::{Environment, Error, UndefinedBehavior};
use serde_json::Value;

/// A template that was read.
#[derive(Debug)]
pub struct Template(String);

impl Template {
    /// Reads a template; says what is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, Error> {
        environment().template_from_str(text)?;
        Ok(Self(text.to_owned()))
    }

    /// Fills it in.
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
    fn values_are_filled_in_as_they_are_and_never_read() {
        let values = json!({ "a": "<{{ b }}>", "n": 3, "yes": true, "o": { "in": "deep" }, "none": null });
        assert_eq!(
            filled("{{ a }}|{{n}}|{{ yes }}|{{ o.in }}|{{ none }}{{ no.such }}|\n", &values),
            "<{{ b }}>|3|True|deep||"
        );
    }

    #[test]
    fn a_fault_is_told_with_its_line() {
        let said = Template::parse("a\n{{ x").expect_err("a fault").to_string();
        assert!(said.starts_with("syntax error: ") && said.ends_with(":2)"), "{said}");
    }

    #[test]
    fn a_filter_that_nobody_has_is_an_error_and_no_panic() {
        let template = Template::parse("{{ a | frobnicate }}");
        assert!(template.and_then(|template| template.fill(&json!({ "a": 1 }))).is_err());
    }
}
