//! What every engine does.

use std::ops::ControlFlow;

use threadfs::engine::{self, Cursor};

use super::*;

/// Makes of each function one test for each engine.
macro_rules! for_each_engine {
    ($($name:ident),* $(,)?) => {
        mod on_memory {
            $(#[test] fn $name() { super::$name(&*crate::memory().engine) })*
        }
        mod on_rocksdb {
            $(#[test] fn $name() { super::$name(&*crate::rocksdb().engine) })*
        }
    };
}
pub(crate) use for_each_engine;

for_each_engine!(
    keys_are_ordered_bytewise,
    a_range_has_its_start_and_not_its_end,
    an_empty_end_is_no_bound,
    a_range_that_ends_before_it_starts_is_empty,
    a_visitor_can_stop,
    a_visitor_can_read_and_write,
    the_first_of_a_range,
    a_cursor_stays_in_its_range,
    the_keyspaces_are_independent,
    a_later_change_of_a_batch_wins,
    a_batch_is_whole_for_readers,
    a_write_is_read_at_once,
    removing_what_is_not_there_is_nothing,
    an_empty_batch_is_nothing,
    empty_keys_and_values_are_kept,
    large_values_are_kept,
    many_keys_are_kept,
    a_sync_and_a_durable_batch_return,
    writers_do_not_lose_each_others_changes,
    room_is_told,
    reclaiming_loses_nothing,
);

fn keys_are_ordered_bytewise(engine: &dyn Engine) {
    let sorted: Vec<Vec<u8>> =
        [&b""[..], b"\0", b"\0\0", b"\0\xff", b"a", b"a\0", b"aa", b"b", b"\x7f", b"\x80", b"\xff", b"\xff\xff"]
            .map(<[u8]>::to_vec)
            .to_vec();
    for key in sorted.iter().rev() {
        put(engine, META, key, key);
    }
    assert_eq!(keys(engine, META, b"", b""), sorted);
}

fn a_range_has_its_start_and_not_its_end(engine: &dyn Engine) {
    for key in [b"a", b"b", b"c", b"d"] {
        put(engine, DATA, key, b"");
    }
    assert_eq!(keys(engine, DATA, b"b", b"d"), [b"b", b"c"]);
    assert_eq!(keys(engine, DATA, b"b\0", b"d\0"), [b"c", b"d"]);
    assert_eq!(keys(engine, DATA, b"x", b"z"), [b""; 0]);
}

fn an_empty_end_is_no_bound(engine: &dyn Engine) {
    put(engine, META, b"a", b"");
    put(engine, META, b"\xff\xff\xff", b"");
    assert_eq!(keys(engine, META, b"b", b""), [b"\xff\xff\xff"]);
}

fn a_range_that_ends_before_it_starts_is_empty(engine: &dyn Engine) {
    put(engine, META, b"b", b"");
    assert!(keys(engine, META, b"b", b"b").is_empty());
    assert!(keys(engine, META, b"c", b"a").is_empty());
    assert_eq!(engine.first(META, b"c", b"a").unwrap(), None);
}

fn a_visitor_can_stop(engine: &dyn Engine) {
    for key in [b"a", b"b", b"c"] {
        put(engine, META, key, b"");
    }
    let mut seen = 0;
    engine
        .scan(META, b"", b"", &mut |_, _| {
            seen += 1;
            if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(seen, 2);
}

fn a_visitor_can_read_and_write(engine: &dyn Engine) {
    for key in [b"a", b"b", b"c"] {
        put(engine, META, key, b"1");
    }
    let mut seen = Vec::new();
    engine
        .scan(META, b"", b"", &mut |key, _| {
            seen.push(key.to_vec());
            assert_eq!(engine.get(META, key).unwrap().unwrap(), b"1");
            delete(engine, META, key);
            put(engine, META, b"d", b"");
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(seen, [b"a", b"b", b"c"], "a scan shows what was there when it began");
    assert_eq!(keys(engine, META, b"", b""), [b"d"]);
}

fn the_first_of_a_range(engine: &dyn Engine) {
    put(engine, DATA, b"b", b"1");
    put(engine, DATA, b"c", b"2");
    assert_eq!(engine.first(DATA, b"a", b"").unwrap(), Some((b"b".to_vec(), b"1".to_vec())));
    assert_eq!(engine.first(DATA, b"b\0", b"c").unwrap(), None);
}

fn a_cursor_stays_in_its_range(engine: &dyn Engine) {
    for key in [b"a", b"b", b"c", b"e", b"f"] {
        put(engine, META, key, key);
    }
    let mut cursor = engine.cursor(META, b"b", b"f").unwrap();
    delete(engine, META, b"c");
    let mut at = |go: &mut dyn FnMut(&mut dyn Cursor) -> engine::Result<()>| {
        go(&mut *cursor).unwrap();
        cursor.item().map(|(key, value)| [key, value].concat())
    };
    assert_eq!(at(&mut |_| Ok(())).unwrap(), b"bb");
    assert_eq!(at(&mut |cursor| cursor.advance()).unwrap(), b"cc", "as it was when the cursor was made");
    assert_eq!(at(&mut |cursor| cursor.seek(b"d")).unwrap(), b"ee");
    assert_eq!(at(&mut |cursor| cursor.advance()), None);
    assert_eq!(at(&mut |cursor| cursor.advance()), None);
    assert_eq!(at(&mut |cursor| cursor.seek(b"a")).unwrap(), b"bb", "not before its start");
    assert_eq!(at(&mut |cursor| cursor.seek(b"f")), None);
    let mut empty = engine.cursor(META, b"c", b"a").unwrap();
    empty.seek(b"b").unwrap();
    assert!(empty.item().is_none());
}

fn the_keyspaces_are_independent(engine: &dyn Engine) {
    let mut batch = Batch::new();
    batch.put(META, b"k".to_vec(), b"meta".to_vec());
    batch.put(DATA, b"k".to_vec(), b"data".to_vec());
    engine.write(batch).unwrap();
    assert_eq!(engine.get(META, b"k").unwrap().unwrap(), b"meta");
    delete(engine, META, b"k");
    assert_eq!(engine.get(META, b"k").unwrap(), None);
    assert_eq!(engine.get(DATA, b"k").unwrap().unwrap(), b"data");
    assert!(all(engine, META).is_empty());
}

fn a_later_change_of_a_batch_wins(engine: &dyn Engine) {
    let mut batch = Batch::new();
    batch.put(META, b"put".to_vec(), b"1".to_vec());
    batch.put(META, b"put".to_vec(), b"2".to_vec());
    batch.put(META, b"gone".to_vec(), b"1".to_vec());
    batch.delete(META, b"gone".to_vec());
    batch.delete(META, b"back".to_vec());
    batch.put(META, b"back".to_vec(), b"3".to_vec());
    assert_eq!(batch.len(), 6);
    engine.write(batch).unwrap();
    assert_eq!(all(engine, META), [(b"back".to_vec(), b"3".to_vec()), (b"put".to_vec(), b"2".to_vec())]);
}

fn a_batch_is_whole_for_readers(engine: &dyn Engine) {
    const WRITES: u64 = 300;
    let write = |number: u64| {
        let mut batch = Batch::new();
        for (space, key) in [(META, b"a"), (META, b"z"), (DATA, b"m")] {
            batch.put(space, key.to_vec(), number.to_be_bytes().to_vec());
        }
        engine.write(batch).unwrap();
    };
    write(0);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (1..WRITES).for_each(write));
        let mut last = 0;
        while !writer.is_finished() {
            let view = engine.view();
            let number =
                |space, key: &[u8]| u64::from_be_bytes(view.get(space, key).unwrap().unwrap()[..].try_into().unwrap());
            let (a, z, m) = (number(META, b"a"), number(META, b"z"), number(DATA, b"m"));
            assert!(a == z && z == m, "a view shows half a batch: {a} {z} {m}");
            assert!(a >= last, "a later view shows an older state");
            last = a;
        }
    });
}

fn a_write_is_read_at_once(engine: &dyn Engine) {
    for round in 0..200u32 {
        put(engine, META, b"k", &round.to_be_bytes());
        assert_eq!(engine.get(META, b"k").unwrap().unwrap(), round.to_be_bytes());
        assert_eq!(range(engine, META, b"k", b"l")[0].1, round.to_be_bytes());
    }
    delete(engine, META, b"k");
    assert_eq!(engine.get(META, b"k").unwrap(), None);
}

fn removing_what_is_not_there_is_nothing(engine: &dyn Engine) {
    delete(engine, META, b"none");
    assert!(all(engine, META).is_empty());
}

fn an_empty_batch_is_nothing(engine: &dyn Engine) {
    assert!(Batch::new().is_empty());
    engine.write(Batch::new()).unwrap();
    assert!(all(engine, META).is_empty() && all(engine, DATA).is_empty());
}

fn empty_keys_and_values_are_kept(engine: &dyn Engine) {
    put(engine, META, b"", b"value");
    put(engine, DATA, b"key", b"");
    assert_eq!(engine.get(META, b"").unwrap().unwrap(), b"value");
    assert_eq!(engine.get(DATA, b"key").unwrap(), Some(Vec::new()));
    assert_eq!(engine.first(META, b"", b"").unwrap().unwrap().0, b"");
    delete(engine, META, b"");
    assert_eq!(engine.get(META, b"").unwrap(), None);
}

fn large_values_are_kept(engine: &dyn Engine) {
    let large: Vec<u8> = (0..6u32 << 20).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for key in [b"a", b"b", b"c"] {
        put(engine, DATA, key, &large);
    }
    put(engine, META, b"a", &large);
    assert!(engine.get(DATA, b"b").unwrap().unwrap() == large);
    assert!(range(engine, META, b"", b"")[0].1 == large);
}

fn many_keys_are_kept(engine: &dyn Engine) {
    let key = |number: u32| number.reverse_bits().to_be_bytes();
    let mut batch = Batch::new();
    for number in 0..20_000 {
        batch.put(META, key(number).to_vec(), number.to_be_bytes().repeat(8));
        if batch.len() == 1000 {
            engine.write(std::mem::take(&mut batch)).unwrap();
        }
    }
    for number in (0..20_000).step_by(3) {
        batch.delete(META, key(number).to_vec());
    }
    engine.write(batch).unwrap();
    let pairs = all(engine, META);
    assert_eq!(pairs.len(), 20_000 - 6667);
    assert!(pairs.is_sorted_by(|a, b| a.0 < b.0));
    for number in (0..20_000u32).step_by(37) {
        let wanted = (number % 3 != 0).then(|| number.to_be_bytes().repeat(8));
        assert_eq!(engine.get(META, &key(number)).unwrap(), wanted);
    }
}

fn a_sync_and_a_durable_batch_return(engine: &dyn Engine) {
    engine.sync().unwrap();
    let mut batch = Batch::new();
    batch.put(META, b"k".to_vec(), b"v".to_vec());
    batch.set_durable(true);
    assert!(batch.is_durable());
    engine.write(batch).unwrap();
    engine.sync().unwrap();
    assert_eq!(engine.get(META, b"k").unwrap().unwrap(), b"v");
}

fn writers_do_not_lose_each_others_changes(engine: &dyn Engine) {
    std::thread::scope(|scope| {
        for writer in 0..4u8 {
            scope.spawn(move || {
                for number in 0..250u16 {
                    let mut batch = Batch::new();
                    let key = [&[writer][..], &number.to_be_bytes()].concat();
                    batch.put(META, key.clone(), vec![writer]);
                    batch.put(DATA, key, vec![writer]);
                    batch.set_durable(number % 50 == 0);
                    engine.write(batch).unwrap();
                    if number % 100 == 0 {
                        engine.sync().unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(all(engine, META).len(), 1000);
    assert_eq!(all(engine, META), all(engine, DATA));
}

fn room_is_told(engine: &dyn Engine) {
    let before = engine.space().unwrap();
    assert!(before.total > 0 && before.available <= before.free && before.free <= before.total);
    assert!(before.reserve < before.total);
    put(engine, DATA, b"k", &vec![7; 1 << 20]);
    assert!(engine.space().unwrap().used > before.used);
}

fn reclaiming_loses_nothing(engine: &dyn Engine) {
    for number in 0..200u32 {
        put(engine, DATA, &number.to_be_bytes(), &[7; 4096]);
    }
    for number in 0..150u32 {
        delete(engine, DATA, &number.to_be_bytes());
    }
    engine.reclaim().unwrap();
    assert_eq!(all(engine, DATA).len(), 50);
    assert_eq!(engine.get(DATA, &199u32.to_be_bytes()).unwrap().unwrap(), [7; 4096]);
}
