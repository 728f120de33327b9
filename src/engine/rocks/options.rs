//! How RocksDB is set up, and why.

use std::path::Path;

use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, ColumnFamilyDescriptor, DB, DBCompressionType, DBRecoveryMode,
    DataBlockIndexType, LogLevel, Options, WriteBufferManager,
};

use super::{DATA, META};

/// A reserve below it is that of a small disk.
const SMALL_RESERVE: u64 = 64 << 20;

/// Open table files. Each costs a descriptor and some kilobytes.
const OPEN_FILES: i32 = 512;

/// Everything that depends on the memory given and on the size of the disk.
#[derive(Debug)]
pub(super) struct Tuning {
    cache_bytes: usize,
    buffer_bytes: usize,
    /// Room on the disk that growth must leave. See [`crate::engine::Space::reserve`].
    pub(super) reserve: u64,
}

impl Tuning {
    /// Splits the memory: half for what was read, half for what is to be written.
    ///
    /// On a small disk the write buffers are what fills it first: a buffer's content lies in
    /// the log and, once flushed, in a table, before the log goes. So they shrink with it.
    pub(super) fn new(memory_bytes: u64, disk_bytes: u64) -> Self {
        let buffers = (memory_bytes / 2).clamp(4 << 20, 512 << 20).min((disk_bytes / 16).max(2 << 20));
        let reserve = (2 * buffers).min(disk_bytes / 8).max(disk_bytes / 64).min(1 << 30);
        Tuning {
            cache_bytes: usize::try_from(memory_bytes / 2).unwrap_or(64 << 20),
            buffer_bytes: usize::try_from(buffers).unwrap_or(64 << 20),
            reserve,
        }
    }

    /// Opens the database in a directory.
    pub(super) fn open(&self, path: &Path, create: bool) -> Result<DB, rocksdb::Error> {
        let cache = Cache::new_lru_cache(self.cache_bytes);
        let families = vec![
            ColumnFamilyDescriptor::new("default", Options::default()),
            ColumnFamilyDescriptor::new(META, self.meta(&cache)),
            ColumnFamilyDescriptor::new(DATA, self.data(&cache)),
        ];
        DB::open_cf_descriptors(&self.database(create), path, families)
    }

    fn database(&self, create: bool) -> Options {
        let mut options = Options::default();
        options.create_if_missing(create);
        options.create_missing_column_families(create);
        // A log that ends in the middle of a record is what a crash of the process leaves. After
        // a crash of the machine the pages behind the last sync may be there in any order: so
        // what follows a hole is dropped, not refused. Damage in a synced part looks the same.
        options.set_wal_recovery_mode(DBRecoveryMode::PointInTime);
        // On a small disk one at a time, so that their temporary files fit into the reserve.
        options.set_max_background_jobs(if self.reserve < SMALL_RESERVE { 1 } else { 2 });
        options.set_max_open_files(OPEN_FILES);
        options.set_write_buffer_manager(&WriteBufferManager::new_write_buffer_manager(self.buffer_bytes, false));
        options.set_max_total_wal_size(2 * self.buffer_bytes as u64);
        // Write-back in small steps, so that a sync does not find a large backlog.
        options.set_bytes_per_sync(1 << 20);
        options.set_wal_bytes_per_sync(1 << 20);
        options.set_log_level(LogLevel::Warn);
        options.set_keep_log_file_num(2);
        options.set_max_log_file_size(4 << 20);
        options.set_stats_dump_period_sec(0);
        options.set_stats_persist_period_sec(0);
        options
    }

    fn family(&self, cache: &Cache, block_bytes: usize) -> (Options, BlockBasedOptions) {
        let mut table = BlockBasedOptions::default();
        table.set_block_cache(cache);
        table.set_block_size(block_bytes);
        table.set_format_version(6);
        // Indexes and filters count against the same budget as blocks.
        table.set_cache_index_and_filter_blocks(true);
        table.set_pin_l0_filter_and_index_blocks_in_cache(true);
        // In parts: the index of a table whose content compresses well is larger than a shard of the
        // cache, and would be read anew for each record.
        table.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
        table.set_partition_filters(true);
        table.set_pin_top_level_index_and_filter(true);
        let mut options = Options::default();
        options.set_compression_type(DBCompressionType::Lz4);
        options.set_level_compaction_dynamic_level_bytes(true);
        (options, table)
    }

    /// Records: small, read one by one, often absent.
    fn meta(&self, cache: &Cache) -> Options {
        let (mut options, mut table) = self.family(cache, 8 << 10);
        table.set_bloom_filter(10.0, false);
        table.set_data_block_index_type(DataBlockIndexType::BinaryAndHash);
        options.set_block_based_table_factory(&table);
        options.set_write_buffer_size(self.buffer_bytes / 2);
        options.set_memtable_whole_key_filtering(true);
        options.set_memtable_prefix_bloom_ratio(0.05);
        options
    }

    /// File content: large values in runs. The kernel's page cache is in front of it.
    fn data(&self, cache: &Cache) -> Options {
        let (mut options, table) = self.family(cache, 16 << 10);
        options.set_block_based_table_factory(&table);
        options.set_write_buffer_size(self.buffer_bytes / 2);
        options.set_target_file_size_base(self.buffer_bytes as u64 / 2);
        // A compaction holds what it read and what it wrote at once: on a small disk that must fit
        // into the reserve.
        options.set_max_compaction_bytes((self.reserve / 2).max(1 << 20));
        // Files that are deleted leave tombstones; tables full of them are compacted soon.
        options.add_compact_on_deletion_collector_factory(1024, 512, 0.5);
        options
    }
}
