import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// The power goes at any moment of a row of saves, with what the disk had not been made to keep half written.
struct PowerCutTests {
    @Test func withFullDurabilityEveryAcknowledgedSaveIsThere() throws {
        let seed = testSeed()
        let (events, sequence) = try record(.full, seed: seed)
        try checkImages(of: events, sequence, isDurable: true, every: step, seed: seed)
    }

    @Test func withNormalDurabilityThereIsNoHoleAndNoHalfSave() throws {
        let seed = testSeed()
        let (events, sequence) = try record(.full, seed: seed)
        try checkImages(of: events, sequence, isDurable: false, every: step, seed: seed)
    }

    /// The disk refuses one sync, forgets what it was about, and agrees to the next as if nothing had been.
    @Test func aSyncThatFailedIsNotTakenForDone() throws {
        let seed = testSeed()
        let usual = try WriteLog()
        let sequence = SaveSequence(count: 12, seed: seed)
        _ = try save(sequence, to: usual, .full)
        let whole = usual.syncCount
        let opening = try syncsOfOpening()
        #expect(whole > opening + 12)
        for number in opening + 1...whole {
            let log = try WriteLog { $0 == number }
            let failures = try save(sequence, to: log, .full)
            #expect(failures <= 1, "sync \(number) of \(whole), seed \(seed)")
            try checkImages(of: log.events, sequence, isDurable: true, every: step * 3, seed: seed)
        }
    }

    private func syncsOfOpening() throws -> Int {
        let folder = try TemporaryFolder()
        let log = try WriteLog()
        let store = try SQLiteStore.open(.test(folder, synchronous: .full, calls: log.calls).copyingLogOften())
        let count = log.syncCount
        store.close()
        return count
    }

    /// How many saves there are, and at how many of the moments the power goes: at all of them, with `POWER_CUTS=300`, or
    /// another number of saves, in the environment.
    private let saveCount: Int
    private let step: Int

    init() {
        let asked = ProcessInfo.processInfo.environment["POWER_CUTS"].flatMap { Int($0) }
        saveCount = asked ?? 20
        step = asked == nil ? 9 : 1
    }

    private func record(_ level: SynchronousLevel, seed: UInt64) throws -> ([WriteLog.Event], SaveSequence) {
        let log = try WriteLog()
        let sequence = SaveSequence(count: saveCount, seed: seed)
        let failures = try save(sequence, to: log, level)
        #expect(failures == 0)
        return (log.events, sequence)
    }

    /// Makes the saves, each again until it succeeds.
    ///
    /// - Returns: How many attempts failed.
    private func save(_ sequence: SaveSequence, to log: WriteLog, _ level: SynchronousLevel) throws -> Int {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder, synchronous: level, calls: log.calls).copyingLogOften())
        defer { store.close() }
        log.acknowledge(0)
        var failures = 0
        for (number, save) in sequence.saves.enumerated() {
            while let failure = code(of: { try store.write([save]) }) {
                #expect(failure == .storeUnreadable)
                failures += 1
                if failures > 10 { return failures }
            }
            log.acknowledge(number + 1)
            store.upkeep()
        }
        return failures
    }

    private func checkImages(
        of events: [WriteLog.Event], _ sequence: SaveSequence, isDurable: Bool, every step: Int, seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        var disk = DiskImage()
        var isOpen = false
        var counts: Set<Int> = []
        for (moment, event) in events.enumerated() {
            disk.apply(event)
            if case .acknowledged = event { isOpen = true }
            let isLast = moment == events.count - 1
            guard isOpen, isLast || moment.isMultiple(of: step) else { continue }
            let damages =
                step == 1 || isLast ? DiskImage.Damage.allCases : [DiskImage.Damage.allCases[moment / step % 5]]
            for damage in damages {
                let files = disk.files(after: damage, using: &generator)
                let what = "\(damage) after event \(moment) of \(events.count), seed \(seed)"
                let count = try count(files, sequence, what)
                #expect(count != nil, "half a save, \(what)")
                if isDurable { #expect((count ?? 0) >= disk.acknowledged, "\(what)") }
                if let count { counts.insert(count) }
            }
        }
        #expect(counts.contains(sequence.saves.count), "seed \(seed)")
    }

    /// How many saves the next start finds.
    private func count(_ files: [String: Data], _ sequence: SaveSequence, _ what: String) throws -> Int? {
        let folder = try TemporaryFolder()
        for (name, bytes) in files { try bytes.write(to: folder.url.appendingPathComponent(name)) }
        let store = try SQLiteStore.open(.test(folder, resetPolicy: .ask))
        #expect(store.startup.reason == .current, "\(what)")
        let count = try sequence.count(in: store)
        store.close()
        #expect(try RawDatabase(folder.store).run("PRAGMA integrity_check") == ["ok"], "\(what)")
        return count
    }
}
