//! The functions that a plan refers to.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::value::Value;

/// The built-in function that every engine brings along: gives what a template becomes.
pub const VALUE_BUILTIN: &str = "value";
/// Another one: gives the moment that a template becomes, until which to sleep.
pub const MOMENT_BUILTIN: &str = "moment";

/// A function of the workflow by its name, or one that engines bring along, with its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum FunctionRef {
    /// The definition has it under this name.
    Named(String),
    /// The plan has all that it needs: no definition is asked.
    Builtin(Builtin),
}

/// A function that engines bring along, with its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Builtin {
    r#use: String,
    with: Value,
}

/// The data of a built-in function cannot be part of a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the data of built-in function `{name}` cannot be kept in a plan: {message}")]
pub struct BadBuiltin {
    /// The function.
    pub name: String,
    /// Why.
    pub message: String,
}

impl Builtin {
    /// The data is kept in its canonical form, with all digits of its numbers, and means nothing to the plan.
    pub fn new(name: impl Into<String>, with: &Value) -> Result<Self, BadBuiltin> {
        let name = name.into();
        match with.sorted() {
            Ok(with) => Ok(Self { r#use: name, with }),
            Err(error) => Err(BadBuiltin { name, message: error.to_string() }),
        }
    }

    /// Which built-in function.
    pub fn name(&self) -> &str {
        &self.r#use
    }

    /// What it is given.
    pub fn with(&self) -> &Value {
        &self.with
    }
}

impl FunctionRef {
    /// The name, if the definition has the function.
    pub fn named(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Builtin(_) => None,
        }
    }

    /// The built-in function, if it is one.
    pub fn builtin(&self) -> Option<&Builtin> {
        match self {
            Self::Named(_) => None,
            Self::Builtin(builtin) => Some(builtin),
        }
    }
}

impl Default for FunctionRef {
    fn default() -> Self {
        Self::Named(String::new())
    }
}

impl From<&str> for FunctionRef {
    fn from(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

impl From<String> for FunctionRef {
    fn from(name: String) -> Self {
        Self::Named(name)
    }
}

impl From<Builtin> for FunctionRef {
    fn from(builtin: Builtin) -> Self {
        Self::Builtin(builtin)
    }
}

/// Whether it is the function of the workflow with this name.
impl PartialEq<&str> for FunctionRef {
    fn eq(&self, name: &&str) -> bool {
        self.named() == Some(*name)
    }
}

/// The name, without the data of a built-in function.
impl fmt::Display for FunctionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Named(name) => name,
            Self::Builtin(builtin) => builtin.name(),
        })
    }
}

impl<'de> Deserialize<'de> for Builtin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            r#use: String,
            #[serde(default)]
            with: Value,
        }
        let Written { r#use, with } = Written::deserialize(deserializer)?;
        Self::new(r#use, &with).map_err(D::Error::custom)
    }
}

/// Not derived: an untagged enum is read through a buffer, in which long numbers lose digits.
impl<'de> Deserialize<'de> for FunctionRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrBuiltin;

        impl<'de> Visitor<'de> for NameOrBuiltin {
            type Value = FunctionRef;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a function, or `{\"use\", \"with\"}`")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<FunctionRef, E> {
                Ok(name.into())
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FunctionRef, A::Error> {
                Builtin::deserialize(MapAccessDeserializer::new(map)).map(FunctionRef::Builtin)
            }
        }

        deserializer.deserialize_any(NameOrBuiltin)
    }
}
