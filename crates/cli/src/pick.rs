//! Which of many things are shown where there is room for a few.

/// A few of many, in their order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PickedItems<T> {
    pub(crate) shown: Vec<T>,
    pub(crate) left_out: usize,
}

/// The few that matter most, and of those that matter the same the latest.
pub(crate) fn pick<T>(all: Vec<T>, room: usize, rank: impl Fn(&T) -> u8) -> PickedItems<T> {
    let left_out = all.len().saturating_sub(room);
    if left_out == 0 {
        return PickedItems { shown: all, left_out };
    }
    let mut order: Vec<(u8, usize)> = all.iter().enumerate().map(|(at, one)| (rank(one), at)).collect();
    order.sort_unstable();
    let mut keep = vec![false; all.len()];
    order[left_out..].iter().for_each(|(_, at)| keep[*at] = true);
    let shown = all.into_iter().zip(keep).filter_map(|(one, keep)| keep.then_some(one));
    PickedItems { shown: shown.collect(), left_out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_is_shown_and_else_the_latest() {
        let all: Vec<u32> = (0..100).collect();
        assert_eq!(pick(all.clone(), 100, |_| 0), PickedItems { shown: all.clone(), left_out: 0 });
        assert_eq!(pick(all.clone(), 3, |_| 0), PickedItems { shown: vec![97, 98, 99], left_out: 97 });
        let failed = |n: &u32| u8::from(*n == 5) * 2 + u8::from(*n == 50);
        assert_eq!(pick(all, 3, failed), PickedItems { shown: vec![5, 50, 99], left_out: 97 });
    }
}
