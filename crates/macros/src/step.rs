//! What `#[step]` refuses, and what it adds to a function that it accepts.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Error, FnArg, GenericArgument, ItemFn, PathArguments, ReturnType, Type};

/// As many as `rival` implements its traits for.
const ARGUMENTS_MAX: usize = 12;

/// The function untouched, then its handle and checks, or what is wrong with it.
pub(crate) fn expand(options: &TokenStream, item: TokenStream) -> TokenStream {
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
            quote!(#function #added)
        }
        // The function stays, so that its callers do not fail as well.
        Err(error) => {
            let error = error.into_compile_error();
            quote!(#function #error)
        }
    }
}

/// What is left of a signature once it is known to be a step's.
struct Parts {
    arguments: Vec<Type>,
    returns: Type,
}

fn accept(options: &TokenStream, function: &ItemFn) -> Result<Parts, Error> {
    if !options.is_empty() {
        let help = "#[step] takes no options: set them where the step is used, e.g. `.step(f.named(\"..\").retry(3))`";
        return Err(Error::new(options.span(), help));
    }
    if !function.sig.generics.params.is_empty() {
        let help = "a step cannot be generic: its name alone must say which function it is";
        return Err(Error::new(function.sig.generics.span(), help));
    }
    let arguments = function.sig.inputs.iter().map(argument).collect::<Result<Vec<_>, _>>()?;
    if arguments.len() > ARGUMENTS_MAX {
        let help = format!("a step takes at most {ARGUMENTS_MAX} arguments");
        return Err(Error::new(function.sig.inputs.span(), help));
    }
    let ReturnType::Type(_, returns) = &function.sig.output else {
        let help =
            "a step returns `Result<T, E>`: write `-> Result<(), StepError>` if it has nothing to give";
        return Err(Error::new(function.sig.ident.span(), help));
    };
    Ok(Parts { arguments, returns: (**returns).clone() })
}

fn argument(argument: &FnArg) -> Result<Type, Error> {
    match argument {
        FnArg::Receiver(receiver) => {
            let help = "a step is a free function: for shared things (pools, clients) ask for `Res<T>`";
            Err(Error::new(receiver.span(), help))
        }
        FnArg::Typed(typed) => match &*typed.ty {
            Type::ImplTrait(ty) => {
                let help = "a step cannot be generic: write the type itself";
                Err(Error::new(ty.span(), help))
            }
            ty => Ok(ty.clone()),
        },
    }
}

impl Parts {
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

    /// `T` of `Result<T, ..>` as it is written: asking the trait instead would repeat its error.
    fn output(&self) -> TokenStream {
        if let Type::Path(path) = &self.returns
            && let Some(last) = path.path.segments.last()
            && last.ident == "Result"
            && let PathArguments::AngleBracketed(arguments) = &last.arguments
            && let Some(GenericArgument::Type(ok)) = arguments.args.first()
        {
            return quote!(#ok);
        }
        let returns = &self.returns;
        quote!(<#returns as ::rival::StepResult>::Ok)
    }

    /// Each check has the span of what it checks. They live in a closure, because a helper with a name
    /// could clash with a step of that name.
    fn checks(&self, function: &ItemFn) -> TokenStream {
        let arguments = self.arguments.iter().map(|ty| {
            quote_spanned! {ty.span()=> ::rival::__private::argument::<#ty>(); }
        });
        let returns = &self.returns;
        let result = if function.sig.asyncness.is_some() {
            quote_spanned! {returns.span()=> ::rival::__private::result::<#returns>(); }
        } else {
            quote_spanned! {returns.span()=> ::rival::__private::result_or_future::<#returns, _>(); }
        };
        let name = &function.sig.ident;
        let send = format_ident!("send{}", self.arguments.len());
        let send = quote_spanned! {name.span()=> ::rival::__private::#send(#name); };
        quote!(#(#arguments)* #result #send)
    }
}
