//! The `#[step]` attribute of Rival. Use it through the `rival` crate, which re-exports it.

mod step;

use proc_macro::TokenStream;

/// Makes a function a step that others can name in `Output<the_function>`.
///
/// The function itself is left as it is: call it in a unit test like any other. Beside it comes a type of
/// the same name, which stands for the step in other steps' arguments, and checks that point at the
/// argument or return type that is wrong.
///
/// The attribute takes no options: set them where the step is used, `.step(f.named("..").retry(3))`.
#[proc_macro_attribute]
pub fn step(options: TokenStream, item: TokenStream) -> TokenStream {
    step::expand(&options.into(), item.into()).into()
}
