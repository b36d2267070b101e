//! A step's error inside of other errors, and out of them again.
//!
//! [`StepError`] is no `std::error::Error`, because every such error converts into it. So it travels in one.

use std::error::Error as StdError;
use std::fmt;

use crate::failure::StepError;

/// A step's error as an error of the standard library.
pub(crate) struct CarriedError(CarriedSource);

/// The same once more, as its source: once they are boxed, errors such as `anyhow`'s show nothing of themselves but their
/// sources.
struct CarriedSource(StepError);

impl CarriedError {
    pub(crate) fn new(error: StepError) -> Self {
        Self(CarriedSource(error))
    }

    /// The step's error that this error is, or that it comes from, with the whole message.
    pub(crate) fn find(error: &(dyn StdError + 'static)) -> (String, Option<StepError>) {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            if let Some(CarriedSource(carried)) = cause.downcast_ref() {
                return (message, Some(carried.clone()));
            }
            let text = cause.to_string();
            if !message.contains(&text) {
                message = format!("{message}: {text}");
            }
            source = cause.source();
        }
        (message, None)
    }
}

impl StdError for CarriedError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

impl fmt::Display for CarriedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.0.fmt(f)
    }
}

/// What `main` prints of a boxed error that it returns.
impl fmt::Debug for CarriedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.0.failure.message, f)
    }
}

impl StdError for CarriedSource {}

/// What reports of causes show below the message.
impl fmt::Display for CarriedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failure = &self.0.failure;
        write!(f, "a step's failure `{}`", failure.code)?;
        match failure.origin.as_ref().and_then(|origin| origin.place()) {
            Some(place) => write!(f, " of {place}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for CarriedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Behavior;

    #[derive(Debug, thiserror::Error)]
    #[error("while shipping")]
    struct Shipping(#[source] Box<dyn StdError + Send + Sync>);

    #[test]
    fn a_steps_error_comes_out_of_a_boxed_error_as_it_was() {
        let error = StepError::stop("declined").code("card_declined");
        let boxed = error.clone().into_boxed();
        assert_eq!(boxed.to_string(), "declined");
        assert_eq!(StepError::from(boxed), error);
    }

    #[test]
    fn what_other_errors_say_around_it_is_kept() {
        let error = StepError::stop("declined").code("card_declined");
        let around = StepError::from(Shipping(error.clone().into_boxed()));
        assert_eq!(around.failure.message, "while shipping: declined");
        assert_eq!((around.behavior, around.failure.code.as_str()), (Behavior::Stop, "card_declined"));
        assert_eq!(around.failure.origin, error.failure.origin);
    }

    #[cfg(feature = "anyhow")]
    #[test]
    fn a_steps_error_goes_through_anyhow_and_back() {
        fn declines() -> Result<(), StepError> {
            Err(StepError::retry("declined").code("card_declined").max_attempts(7))
        }
        fn pays() -> anyhow::Result<()> {
            declines()?;
            Ok(())
        }
        fn ships() -> Result<(), StepError> {
            Ok(pays().map_err(|error| error.context("while shipping"))?)
        }
        assert_eq!(StepError::from(pays().unwrap_err()), declines().unwrap_err());
        let shipped = ships().unwrap_err();
        assert_eq!(shipped.failure.message, "while shipping: declined");
        assert_eq!((shipped.behavior, shipped.max_attempts), (Behavior::Retry, Some(7)));
        let report = format!("{:?}", pays().unwrap_err());
        assert!(
            report.starts_with("declined\n\nCaused by:\n    a step's failure `card_declined` of "),
            "{report}"
        );
    }
}
