//! Several steps at once, as a tuple.

use crate::data::Data;
use crate::step::{IntoStep, NodeDraft};

/// Steps that `.steps(..)` takes: a tuple of up to 12.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of steps",
    label = "not a tuple of steps",
    note = "write `.steps((first, second.retry(3)))` with at most 12 steps, each something that `.step(..)` takes"
)]
pub trait IntoSteps<M> {
    /// What the last of them returns.
    type Out: Data;

    #[doc(hidden)]
    fn into_drafts(self, drafts: &mut Vec<NodeDraft>);
}

macro_rules! tuple {
    ($($step:ident $mark:ident,)* => $last:ident $last_mark:ident) => {
        impl<$($step, $mark,)*> IntoSteps<($($mark,)*)> for ($($step,)*)
        where
            $($step: IntoStep<$mark>,)*
        {
            type Out = <$last as IntoStep<$last_mark>>::Out;

            #[allow(non_snake_case, reason = "one macro for every number of steps")]
            fn into_drafts(self, drafts: &mut Vec<NodeDraft>) {
                let ($($step,)*) = self;
                $(drafts.push($step.into_draft());)*
            }
        }
    };
}

tuple!(A MA, => A MA);
tuple!(A MA, B MB, => B MB);
tuple!(A MA, B MB, C MC, => C MC);
tuple!(A MA, B MB, C MC, D MD, => D MD);
tuple!(A MA, B MB, C MC, D MD, E ME, => E ME);
tuple!(A MA, B MB, C MC, D MD, E ME, F MF, => F MF);
tuple!(A MA, B MB, C MC, D MD, E ME, F MF, G MG, => G MG);
tuple!(A MA, B MB, C MC, D MD, E ME, F MF, G MG, H MH, => H MH);
tuple!(A MA, B MB, C MC, D MD, E ME, F MF, G MG, H MH, I MI, => I MI);
tuple!(A MA, B MB, C MC, D MD, E ME, F MF, G MG, H MH, I MI, J MJ, => J MJ);
tuple!(A MA, B MB, C MC, D MD, E ME, F MF, G MG, H MH, I MI, J MJ, K MK, => K MK);
tuple!(A MA, B MB, C MC, D MD, E ME, F MF, G MG, H MH, I MI, J MJ, K MK, L ML, => L ML);
