//! Random changes on every engine, against an ordered map.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

type Model = BTreeMap<(Keyspace, Vec<u8>), Vec<u8>>;

#[derive(Debug, Clone)]
enum Step {
    Write(Vec<(Keyspace, Vec<u8>, Option<Vec<u8>>)>),
    Freeze,
    Thaw,
    Scan(Keyspace, Vec<u8>, Vec<u8>, usize),
    Reopen,
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(prop_oneof![Just(0u8), Just(1), Just(b'a'), Just(255)], 0..4)
}

fn space() -> impl Strategy<Value = Keyspace> {
    prop_oneof![Just(META), Just(DATA)]
}

fn step() -> impl Strategy<Value = Step> {
    let value = proptest::option::weighted(0.7, proptest::collection::vec(any::<u8>(), 0..40));
    prop_oneof![
        6 => proptest::collection::vec((space(), key(), value), 0..6).prop_map(Step::Write),
        2 => Just(Step::Freeze),
        1 => Just(Step::Thaw),
        4 => (space(), key(), key(), 1..10usize).prop_map(|(space, from, to, stop)| Step::Scan(space, from, to, stop)),
        1 => Just(Step::Reopen),
    ]
}

fn wanted(model: &Model, space: Keyspace, from: &[u8], to: &[u8], stop: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    model
        .iter()
        .filter(|((of, key), _)| *of == space && &key[..] >= from && (to.is_empty() || &key[..] < to))
        .map(|((_, key), value)| (key.clone(), value.clone()))
        .take(stop)
        .collect()
}

fn scanned(view: &dyn View, space: Keyspace, from: &[u8], to: &[u8], stop: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut pairs = Vec::new();
    view.scan(space, from, to, &mut |key, value| {
        pairs.push((key.to_vec(), value.to_vec()));
        if pairs.len() == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    pairs
}

/// Everything in both keyspaces.
fn same(view: &dyn View, model: &Model) {
    for space in [META, DATA] {
        assert_eq!(scanned(view, space, b"", b"", usize::MAX), wanted(model, space, b"", b"", usize::MAX));
    }
}

/// Runs the steps up to the next reopening; returns how many it took.
fn run(engine: &dyn Engine, steps: &[Step], model: &mut Model) -> usize {
    let mut frozen: Vec<(Box<dyn View + '_>, Model)> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Write(changes) => {
                let mut batch = Batch::new();
                for (space, key, value) in changes {
                    match value {
                        Some(value) => {
                            batch.put(*space, key.clone(), value.clone());
                            model.insert((*space, key.clone()), value.clone());
                        }
                        None => {
                            batch.delete(*space, key.clone());
                            model.remove(&(*space, key.clone()));
                        }
                    }
                }
                engine.write(batch).unwrap();
            }
            Step::Freeze => frozen.push((engine.view(), model.clone())),
            Step::Thaw => drop(frozen.pop()),
            Step::Scan(space, from, to, stop) => {
                assert_eq!(scanned(engine, *space, from, to, *stop), wanted(model, *space, from, to, *stop));
                assert_eq!(engine.first(*space, from, to).unwrap(), wanted(model, *space, from, to, 1).pop());
                assert_eq!(engine.get(*space, from).unwrap(), model.get(&(*space, from.clone())).cloned());
            }
            Step::Reopen => {
                same(engine, model);
                return at + 1;
            }
        }
        for (view, then) in &frozen {
            same(&**view, then);
        }
    }
    same(engine, model);
    steps.len()
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn memory_is_an_ordered_map(steps in proptest::collection::vec(step(), 1..60)) {
        let fixture = memory();
        let (mut model, mut at) = (Model::new(), 0);
        while at < steps.len() {
            at += run(&*fixture.engine, &steps[at..], &mut model);
        }
    }
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn rocksdb_is_an_ordered_map(steps in proptest::collection::vec(step(), 1..60)) {
        let directory = tempfile::tempdir().unwrap();
        let (mut model, mut at) = (Model::new(), 0);
        while at < steps.len() {
            at += run(&open(directory.path()), &steps[at..], &mut model);
        }
    }
}
