//! What `#[step]` refuses, and what it adds to a function that it accepts.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Error, FnArg, GenericArgument, ItemFn, PathArguments, ReturnType, Type};

/// As many as `rival` implements its traits for.
const ARGUMENTS_MAX: usize = 12;

/// The function untouched, then its handle and checks, or what is wrong with it.
pub(crate) fn expand(options: &TokenStream, item: &TokenStream) -> TokenStream {
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let error = Error::new(error.span(), "#[step] goes on a function").into_compile_error();
            return quote!(#item #error);
        }
    };
    match accept(options, &function) {
        Ok(parts) => {
            let added = parts.expand(&function);
            // A step cannot choose how its arguments come, nor is it async for its own sake.
            quote! {
                #[allow(
                    clippy::needless_pass_by_value, clippy::unused_async,
                    reason = "the signature of a step is what it asks for"
                )]
                #function
                #added
            }
        }
        // The function stays, so that its callers do not fail as well.
        Err(error) => {
            let error = error.into_compile_error();
            quote!(#function #error)
        }
    }
}

/// What is left of a signature once it is known to be a step's.
struct StepSignature {
    arguments: Vec<Type>,
    returns: Type,
}

fn accept(options: &TokenStream, function: &ItemFn) -> Result<StepSignature, Error> {
    if !options.is_empty() {
        let help = "#[step] takes no options: set them where the step is used, e.g. `.step(f.named(\"..\").retry(3))`";
        return Err(Error::new_spanned(options, help));
    }
    if !function.sig.generics.params.is_empty() {
        let help = "a step cannot be generic: its name alone must say which function it is";
        return Err(Error::new_spanned(&function.sig.generics, help));
    }
    let arguments = function.sig.inputs.iter().map(argument).collect::<Result<Vec<_>, _>>()?;
    if arguments.len() > ARGUMENTS_MAX {
        let help = format!("a step takes at most {ARGUMENTS_MAX} arguments");
        return Err(Error::new_spanned(&function.sig.inputs, help));
    }
    let ReturnType::Type(_, returns) = &function.sig.output else {
        let help =
            "a step returns `Result<T, E>`: write `-> Result<(), StepError>` if it has nothing to give";
        return Err(Error::new_spanned(&function.sig.ident, help));
    };
    Ok(StepSignature { arguments, returns: (**returns).clone() })
}

fn argument(argument: &FnArg) -> Result<Type, Error> {
    match argument {
        FnArg::Receiver(receiver) => {
            let help = "a step is a free function: for shared things (pools, clients) ask for `Res<T>`";
            Err(Error::new_spanned(receiver, help))
        }
        FnArg::Typed(typed) => match &*typed.ty {
            Type::ImplTrait(ty) => {
                let help = "a step cannot be generic: write the type itself";
                Err(Error::new_spanned(ty, help))
            }
            ty => Ok(ty.clone()),
        },
    }
}

impl StepSignature {
    fn expand(&self, function: &ItemFn) -> TokenStream {
        let (name, visibility) = (&function.sig.ident, &function.vis);
        let text = name.to_string();
        let text = text.strip_prefix("r#").unwrap_or(&text);
        let conditions: Vec<&Attribute> =
            function.attrs.iter().filter(|it| it.path().is_ident("cfg")).collect();
        let output = self.output();
        let checks = self.checks(function);
        // A braced struct lives in the type namespace only, so an argument may be called like the step it reads.
        quote! {
            #(#conditions)*
            #[doc(hidden)]
            #[allow(
                non_camel_case_types, dead_code, unreachable_pub, missing_debug_implementations,
                reason = "stands for the step function of the same name"
            )]
            #visibility struct #name {}

            #(#conditions)*
            impl ::rival::StepHandle for #name {
                const NAME: &'static str = #text;
                type Output = #output;
                fn id() -> ::core::any::TypeId {
                    ::rival::__private::id_of(&#name)
                }
            }

            #(#conditions)*
            const _: fn() = || { #checks };
        }
    }

    /// What the step gives: `T` of `Result<T, ..>` as it is written, else what the trait says.
    fn output(&self) -> TokenStream {
        if let Some(ok) = self.written_output() {
            return quote!(#ok);
        }
        let returns = &self.returns;
        quote_spanned!(returns.span()=> <#returns as ::rival::StepResult>::Ok)
    }

    fn written_output(&self) -> Option<&Type> {
        if let Type::Path(path) = &self.returns
            && let Some(last) = path.path.segments.last()
            && last.ident == "Result"
            && let PathArguments::AngleBracketed(arguments) = &last.arguments
            && let Some(GenericArgument::Type(ok)) = arguments.args.first()
        {
            return Some(ok);
        }
        None
    }

    /// Each check has the span of what it checks. They live in a closure, because a helper with a name
    /// could clash with a step of that name.
    fn checks(&self, function: &ItemFn) -> TokenStream {
        let arguments = self.arguments.iter().map(|ty| {
            quote_spanned! {ty.span()=> ::rival::__private::argument::<#ty>(); }
        });
        // Where the trait was asked for the output, it has already checked the type: once is enough.
        let result = self.written_output().map(|_| {
            let returns = &self.returns;
            quote_spanned! {returns.span()=> ::rival::__private::result::<#returns>(); }
        });
        // What a blocking function returns does not leave its thread.
        let is_blocking = function.sig.asyncness.is_none() && self.written_output().is_some();
        let send = (!is_blocking).then(|| {
            let name = &function.sig.ident;
            let send = format_ident!("send{}", self.arguments.len());
            quote_spanned! {name.span()=> ::rival::__private::#send(#name); }
        });
        quote!(#(#arguments)* #result #send)
    }
}
