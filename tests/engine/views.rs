//! A view is one instant.

use super::conformance::for_each_engine;
use super::*;

for_each_engine!(
    a_view_does_not_change,
    views_of_different_instants_differ,
    a_view_outlives_a_compaction,
    a_view_can_be_used_beside_the_engine,
    views_are_taken_while_others_write,
);

fn a_view_does_not_change(engine: &dyn Engine) {
    put(engine, META, b"changed", b"old");
    put(engine, META, b"removed", b"old");
    put(engine, DATA, b"data", b"old");
    let view = engine.view();
    put(engine, META, b"changed", b"new");
    put(engine, META, b"added", b"new");
    delete(engine, META, b"removed");
    delete(engine, DATA, b"data");
    assert_eq!(view.get(META, b"changed").unwrap().unwrap(), b"old");
    assert_eq!(view.get(META, b"added").unwrap(), None);
    assert_eq!(keys(&*view, META, b"", b""), [&b"changed"[..], b"removed"]);
    assert_eq!(view.first(META, b"d", b"").unwrap().unwrap().0, b"removed");
    assert_eq!(view.get(DATA, b"data").unwrap().unwrap(), b"old");
    assert_eq!(keys(engine, META, b"", b""), [&b"added"[..], b"changed"]);
}

fn views_of_different_instants_differ(engine: &dyn Engine) {
    let views: Vec<_> = (0..20u8)
        .map(|number| {
            put(engine, META, b"k", &[number]);
            engine.view()
        })
        .collect();
    for (number, view) in views.iter().enumerate() {
        assert_eq!(view.get(META, b"k").unwrap().unwrap(), [number as u8]);
    }
}

fn a_view_outlives_a_compaction(engine: &dyn Engine) {
    for number in 0..100u8 {
        put(engine, DATA, &[number], &[number; 4096]);
    }
    let view = engine.view();
    for number in 0..100u8 {
        delete(engine, DATA, &[number]);
    }
    engine.reclaim().unwrap();
    assert_eq!(all(&*view, DATA).len(), 100);
    assert_eq!(view.get(DATA, &[42]).unwrap().unwrap(), [42; 4096]);
    assert!(all(engine, DATA).is_empty());
}

fn a_view_can_be_used_beside_the_engine(engine: &dyn Engine) {
    put(engine, META, b"k", b"1");
    let view = engine.view();
    let second = engine.view();
    put(engine, META, b"k", b"2");
    engine.sync().unwrap();
    assert_eq!(view.get(META, b"k").unwrap().unwrap(), b"1");
    assert_eq!(engine.get(META, b"k").unwrap().unwrap(), b"2");
    drop(view);
    assert_eq!(second.get(META, b"k").unwrap().unwrap(), b"1");
}

fn views_are_taken_while_others_write(engine: &dyn Engine) {
    // Each write moves one coin: every view shows all of them.
    let accounts = 8u8;
    let mut batch = Batch::new();
    for account in 0..accounts {
        batch.put(META, vec![account], vec![10]);
    }
    engine.write(batch).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..400usize {
                let (from, to) = ((round % 8) as u8, ((round * 3 + 1) % 8) as u8);
                let read = |account: u8| engine.get(META, &[account]).unwrap().unwrap()[0];
                if from != to && read(from) > 0 {
                    let mut batch = Batch::new();
                    batch.put(META, vec![from], vec![read(from) - 1]);
                    batch.put(META, vec![to], vec![read(to) + 1]);
                    engine.write(batch).unwrap();
                }
            }
        });
        while !writer.is_finished() {
            let sum: u32 = all(&*engine.view(), META).iter().map(|(_, value)| u32::from(value[0])).sum();
            assert_eq!(sum, 80);
        }
    });
}
