//! Values of statements and cells of rows, as both backends of the registry and the fleet's log
//! have them.

/// A parameter of a statement, or a cell of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Int(Option<i64>),
    Text(Option<String>),
    /// A list of texts; only a server knows it.
    Texts(Vec<String>),
}

macro_rules! value_from {
    ($($from:ty => |$value:ident| $into:expr),+ $(,)?) => {
        $(impl From<$from> for Value {
            fn from($value: $from) -> Self {
                $into
            }
        })+
    };
}

value_from! {
    i64 => |value| Self::Int(Some(value)),
    Option<i64> => |value| Self::Int(value),
    &str => |value| Self::Text(Some(value.to_owned())),
    &String => |value| Self::Text(Some(value.clone())),
    String => |value| Self::Text(Some(value)),
    Option<&str> => |value| Self::Text(value.map(str::to_owned)),
    Option<String> => |value| Self::Text(value),
    Vec<String> => |value| Self::Texts(value),
}

/// A row of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row(pub Vec<Value>);

impl Row {
    /// The number of a column; `None` of NULL, and of a column that has none.
    pub fn number(&self, at: usize) -> Option<i64> {
        if let Some(Value::Int(found)) = self.0.get(at) { *found } else { None }
    }

    /// The text of a column; `None` of NULL, and of a column that has none.
    pub fn words(&self, at: usize) -> Option<&str> {
        if let Some(Value::Text(found)) = self.0.get(at) { found.as_deref() } else { None }
    }
}
