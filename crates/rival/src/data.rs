//! What can be recorded.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value that can be recorded and read back: every type that serde can write and read.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be recorded as a step's result or input",
    label = "must implement `Serialize` and `Deserialize`",
    note = "add `#[derive(Serialize, Deserialize)]` to `{Self}`; it must also be `Send + Sync + 'static`"
)]
pub trait Data: Serialize + DeserializeOwned + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> Data for T {}

/// A workflow's input: recorded, and described by a JSON Schema that each launch is checked against.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a workflow's input",
    label = "must implement `Serialize`, `Deserialize` and `JsonSchema`",
    note = "add `#[derive(Serialize, Deserialize, JsonSchema)]` to `{Self}`"
)]
pub trait InputData: Data + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: Data + JsonSchema> InputData for T {}
