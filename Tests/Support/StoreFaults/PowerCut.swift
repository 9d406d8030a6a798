internal import Foundation
internal import CSQLite
package import RowStore
internal import SQLiteStore
internal import StoreTestModel
package import TestSupport

/// Makes saves, and cuts the power at any moment, with unsynced bytes partly on the disk.
package struct PowerCut: Sendable {
    /// The number of saves.
    package var saveCount: Int
    /// Every how many file calls the power is cut; with 1, after each call, and with every kind of damage.
    package var step: Int
    package var seed: UInt64
    package let findings: Findings

    package init(saveCount: Int, step: Int, seed: UInt64, findings: Findings = Findings()) {
        self.saveCount = saveCount
        self.step = step
        self.seed = seed
        self.findings = findings
    }

    /// With `.full`, every acknowledged save must be there. With `.normal`, no save may be missing between others, and no save
    /// may be there by half.
    package func cut(_ level: SynchronousLevel) throws {
        let log = try WriteLog()
        let sequence = SaveSequence(count: saveCount, seed: seed)
        let failures = try save(sequence, to: log, level)
        findings.expect(failures == 0, "\(failures) saves failed without a fault, seed \(seed)")
        try checkImages(of: log.events, sequence, isDurable: level == .full, every: step)
    }

    /// The disk fails one sync, loses the bytes of that sync, and lets the next sync succeed. This is tried for each sync.
    package func failSyncs(saves: Int) throws {
        let usual = try WriteLog()
        let sequence = SaveSequence(count: saves, seed: seed)
        _ = try save(sequence, to: usual, .full)
        let opening = try syncsOfOpening()
        findings.expect(usual.syncCount > opening + saves, "fewer syncs than saves, seed \(seed)")
        guard usual.syncCount > opening else { return }
        for number in opening + 1...usual.syncCount {
            let log = try WriteLog { $0 == number }
            let failures = try save(sequence, to: log, .full)
            findings.expect(failures <= 1, "\(failures) saves failed by sync \(number) alone, seed \(seed)")
            findings.count(.refused, failures)
            try checkImages(of: log.events, sequence, isDurable: true, every: step * 3)
        }
    }

    private func syncsOfOpening() throws -> Int {
        try inFolder { url in
            let log = try WriteLog()
            let store = try SQLiteStore.open(.copyingLogOften(url, .full, log.calls))
            defer { store.close() }
            return log.syncCount
        }
    }

    private static let storeName = "test.store"

    private func inFolder<R>(_ body: (URL) throws -> R) throws -> R {
        let folder = try TemporaryDirectory()
        return try body(folder.url.appending(component: PowerCut.storeName))
    }

    /// Makes the saves. Each save is tried until it succeeds.
    ///
    /// - Returns: The number of failed attempts.
    private func save(_ sequence: SaveSequence, to log: WriteLog, _ level: SynchronousLevel) throws -> Int {
        try inFolder { url in
            let store = try SQLiteStore.open(.copyingLogOften(url, level, log.calls))
            defer { store.close() }
            log.acknowledge(0)
            var failures = 0
            for (number, save) in sequence.saves.enumerated() {
                while let failure = store.failure(of: save) {
                    findings.expect(failure == .storeUnreadable, "a failed sync is \(failure), seed \(seed)")
                    failures += 1
                    if failures > 10 { return failures }
                }
                log.acknowledge(number + 1)
                store.upkeep()
            }
            return failures
        }
    }

    private func failure(of save: ChangeSet, _ store: SQLiteStore) -> DataSourceError.Code? {
        do throws(DataSourceError) {
            try store.writeEarly(save)
            return nil
        } catch {
            return error.code
        }
    }

    private func checkImages(
        of events: [WriteLog.Event], _ sequence: SaveSequence, isDurable: Bool, every step: Int
    ) throws {
        var random = SeededRandom(seed: seed)
        var disk = DiskImage()
        var isOpen = false
        var counts: Set<Int> = []
        var images = 0
        // Most events do not change the synced bytes, so the same image is often repeated.
        var last: [DiskImage.Damage: (files: [String: Data], count: Int?)] = [:]
        for (moment, event) in events.enumerated() {
            disk.apply(event)
            if case .acknowledged = event { isOpen = true }
            let isLast = moment == events.count - 1
            guard isOpen, isLast || moment.isMultiple(of: step) else { continue }
            let damages =
                step == 1 || isLast ? DiskImage.Damage.allCases : [DiskImage.Damage.allCases[moment / step % 5]]
            for damage in damages {
                let what = "\(damage) after event \(moment) of \(events.count), seed \(seed)"
                let files = disk.files(after: damage, using: &random)
                let count: Int?
                if let last = last[damage], last.files == files {
                    count = last.count
                } else {
                    images += 1
                    count = try self.count(files, sequence, what)
                    last[damage] = (files, count)
                }
                findings.expect(count != nil, "half a save, \(what)", .half)
                findings.expect(
                    !isDurable || count ?? .max >= disk.acknowledged,
                    "\(count ?? 0) of \(disk.acknowledged) saves, \(what)", .lost)
                if let count { counts.insert(count) }
            }
        }
        findings.count(.acknowledged, disk.acknowledged)
        findings.count(.images, images)
        findings.expect(counts.contains(sequence.saves.count), "no image has every save, seed \(seed)")
    }

    /// The number of saves that the next opening finds; nil if there is half of a save.
    private func count(_ files: [String: Data], _ sequence: SaveSequence, _ what: String) throws -> Int? {
        try inFolder { url in
            for (name, bytes) in files {
                try bytes.write(to: url.deletingLastPathComponent().appending(component: name))
            }
            let store = try SQLiteStore.open(.copyingLogOften(url, .normal))
            findings.expect(store.startup.reason == .current, "the start found \(store.startup.reason), \(what)", .lost)
            let count = try sequence.count(in: store)
            store.close()
            findings.expect(integrity(of: url) == "ok", "damaged, \(what)")
            return count
        }
    }
}
