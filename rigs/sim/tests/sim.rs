//! Random plans on the real engine against the model: 20,000 in memory with crashes by chance, 500 with a crash at
//! every boundary, 200 in files, and 4,000 with what the model does not know. `make sim SEEDS=...` tries others.

use rival_sim::campaign::{CampaignMode, campaign};

/// Cut into pieces that run side by side.
macro_rules! pieces {
    ($mode:expr, $size:expr, $($name:ident = $number:expr),+ $(,)?) => {
        $(#[test] fn $name() { agrees($mode, $number * $size..($number + 1) * $size); })+
    };
}

#[expect(clippy::print_stdout, reason = "the figures, for a developer who asks to see them")]
fn agrees(mode: CampaignMode, seeds: std::ops::Range<u64>) {
    let (counters, reports) = campaign(mode, seeds.clone());
    println!("{counters}");
    assert!(reports.is_empty(), "seeds {seeds:?}\n{}", reports.join("\n"));
}

mod memory {
    use super::*;
    pieces!(
        CampaignMode::Chance,
        2_500,
        seeds_0 = 0,
        seeds_1 = 1,
        seeds_2 = 2,
        seeds_3 = 3,
        seeds_4 = 4,
        seeds_5 = 5,
        seeds_6 = 6,
        seeds_7 = 7,
    );
}

mod every_boundary {
    use super::*;
    pieces!(CampaignMode::Every, 125, seeds_0 = 0, seeds_1 = 1, seeds_2 = 2, seeds_3 = 3);
}

mod sqlite {
    use super::*;
    pieces!(CampaignMode::Sqlite, 50, seeds_0 = 0, seeds_1 = 1, seeds_2 = 2, seeds_3 = 3);
}

mod unmodelled {
    use super::*;
    pieces!(CampaignMode::Unmodelled, 1_000, seeds_0 = 0, seeds_1 = 1, seeds_2 = 2, seeds_3 = 3);
}
