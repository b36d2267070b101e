//! What a node of a graph comes after.

use crate::function::FunctionIdentity;
use crate::step::{StepFn, StepMark};

/// What `.after(..)` takes: a step function, a node's id, or a tuple or list of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not something that a step can come after",
    label = "not a step",
    note = "write `.after(validate)`, `.after((validate, fraud))`, or a node's id: `.after(\"validate\")`"
)]
pub trait Dependencies<M> {
    #[doc(hidden)]
    fn add_to(self, dependencies: &mut Vec<Dependency>);
}

/// One node that another comes after.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Dependency(pub(crate) PriorNode);

/// Which node it is.
#[derive(Clone, Debug)]
pub(crate) enum PriorNode {
    /// The one that calls this function.
    Function { identity: FunctionIdentity, name: String },
    /// The one with this id.
    Id(String),
}

/// Marks ids.
#[derive(Debug)]
pub enum IdMark {}

/// Marks lists.
#[derive(Debug)]
pub struct ListMark<M>(std::marker::PhantomData<M>);

#[diagnostic::do_not_recommend]
impl<M, S: StepFn<M>> Dependencies<StepMark<M>> for S {
    fn add_to(self, dependencies: &mut Vec<Dependency>) {
        let draft = self.into_step().draft;
        dependencies.push(Dependency(match draft.named {
            Some(id) => PriorNode::Id(id),
            None => PriorNode::Function {
                identity: draft.function.identity,
                name: draft.function.name.unwrap_or("closure").to_owned(),
            },
        }));
    }
}

#[diagnostic::do_not_recommend]
impl Dependencies<IdMark> for &str {
    fn add_to(self, dependencies: &mut Vec<Dependency>) {
        dependencies.push(Dependency(PriorNode::Id(self.to_owned())));
    }
}

#[diagnostic::do_not_recommend]
impl Dependencies<IdMark> for String {
    fn add_to(self, dependencies: &mut Vec<Dependency>) {
        dependencies.push(Dependency(PriorNode::Id(self)));
    }
}

#[diagnostic::do_not_recommend]
impl<M, D: Dependencies<M>> Dependencies<ListMark<M>> for Vec<D> {
    fn add_to(self, dependencies: &mut Vec<Dependency>) {
        self.into_iter().for_each(|one| one.add_to(dependencies));
    }
}

macro_rules! tuple {
    ($($one:ident $mark:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<$($one, $mark,)*> Dependencies<($($mark,)*)> for ($($one,)*)
        where
            $($one: Dependencies<$mark>,)*
        {
            #[allow(non_snake_case, reason = "one macro for every number of steps")]
            fn add_to(self, dependencies: &mut Vec<Dependency>) {
                let ($($one,)*) = self;
                $($one.add_to(dependencies);)*
            }
        }
    };
}

tuple!(A MA);
tuple!(A MA B MB);
tuple!(A MA B MB C MC);
tuple!(A MA B MB C MC D MD);
tuple!(A MA B MB C MC D MD E ME);
tuple!(A MA B MB C MC D MD E ME F MF);
tuple!(A MA B MB C MC D MD E ME F MF G MG);
tuple!(A MA B MB C MC D MD E ME F MF G MG H MH);
