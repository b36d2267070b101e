//! The type that stands for a step in other steps' arguments.

use std::any::TypeId;

/// Stands for a step function: `#[step] fn find_tree` brings a type `find_tree` that implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step, so it has no output to read",
    label = "expected the name of a `#[step]` function",
    note = "write `Output<the_step_function>` (the step's name, not the type it returns), and put `#[step]` on that function"
)]
pub trait StepHandle: 'static {
    /// The function's name.
    const NAME: &'static str;
    /// What the function returns. Without a bound here, a wrong type is reported once, at the function.
    type Output;

    /// Which function it is, exactly: aliases lead to the same one, and two of one name are told apart.
    fn id() -> TypeId;
}
