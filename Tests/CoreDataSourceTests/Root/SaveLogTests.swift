import CoreDataSource
import RowStore
import Testing

/// The log decides what is committed, merged and laid over a fetch; here it is held against a list that forgets nothing.
struct SaveLogTests {
    private let anything = ChangeSet(entities: [])

    @Test func savesAreNumberedInTheirOrder() {
        var log = SaveLog()
        do {
            let result = log.append(anything)
            #expect(result == 1)
        }
        do {
            let result = log.append(anything)
            #expect(result == 2)
        }
        #expect(log.newest == 2)
        #expect(log.pendingCount == 2)
    }

    @Test func aGroupHoldsAllThatWaits() {
        var log = SaveLog()
        for _ in 1...3 { _ = log.append(anything) }
        do {
            let result = log.takeForCommit()
            #expect(result?.map(\.number) == [1, 2, 3])
        }
    }

    @Test func aSecondCommitWaitsForTheFirst() {
        var log = SaveLog()
        _ = log.append(anything)
        _ = log.takeForCommit()
        _ = log.append(anything)
        do {
            let result = log.takeForCommit()
            #expect(result == nil)
        }
        log.noteCommit(succeeded: true)
        do {
            let isMoreWaiting = log.endCommit()
            #expect(isMoreWaiting)
        }
        do {
            let result = log.takeForCommit()
            #expect(result?.map(\.number) == [2])
        }
    }

    @Test func aFailedGroupIsPartOfTheNextOne() {
        var log = SaveLog()
        _ = log.append(anything)
        _ = log.takeForCommit()
        log.noteCommit(succeeded: false)
        do {
            let isMoreWaiting = log.endCommit()
            #expect(!isMoreWaiting)
        }
        _ = log.append(anything)
        do {
            let result = log.takeForCommit()
            #expect(result?.map(\.number) == [1, 2])
        }
    }

    @Test func aFetchGetsWhatWasCommittedAfterItBegan() {
        var log = SaveLog()
        _ = log.append(anything)
        let start = log.beginRead()
        _ = log.takeForCommit()
        log.noteCommit(succeeded: true)
        _ = log.endCommit()
        _ = log.append(anything)
        do {
            let result = log.endRead(after: start)
            #expect(result.map(\.changes.number) == [1, 2])
        }
    }

    @Test func mainHearsOnlyOfSavesMadeAfterItBeganToShow() {
        var log = SaveLog()
        _ = log.append(anything)
        log.startMerging()
        _ = log.append(anything)
        do {
            let result = log.takeForMain()
            #expect(result.map(\.number) == [2])
        }
        do {
            let result = log.takeForMain()
            #expect(result.isEmpty)
        }
    }

    @Test func discardingWaitsForTheCommitUnderWay() {
        var log = SaveLog()
        _ = log.append(anything)
        _ = log.takeForCommit()
        do {
            let result = log.discardPending()
            #expect(result == nil)
        }
        log.noteCommit(succeeded: false)
        _ = log.endCommit()
        do {
            let result = log.discardPending()
            #expect(result == 1)
        }
        #expect(log.pendingCount == 0)
        #expect(log.generation == 1)
    }

    /// Any order of events: each reader gets each save once, in order, and none is lost.
    @Test(arguments: 0..<64)
    func everyReaderSeesEverySaveOnce(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var log = SaveLog()
        var committed: [Int64] = []
        var merged: [Int64] = []
        var group: [Int64] = []
        var reads: [(start: Int64, newestAtStart: Int64)] = []
        log.startMerging()
        for _ in 0..<400 {
            switch Int.random(in: 0..<7, using: &random) {
            case 0, 1: _ = log.append(anything)
            case 2: if let taken = log.takeForCommit() { group = taken.map(\.number) }
            case 3:
                guard log.committing != nil else { continue }
                let succeeded = Bool.random(using: &random)
                log.noteCommit(succeeded: succeeded)
                _ = log.endCommit()
                if succeeded { committed += group }
            case 4: merged += log.takeForMain().map(\.number)
            case 5:
                let start = log.beginRead()
                #expect(start == committed.last ?? 0)
                reads.append((start, log.newest))
            default:
                guard let read = reads.popLast() else { continue }
                let numbers = log.endRead(after: read.start).map(\.changes.number)
                #expect(numbers == Array(read.start + 1..<log.newest + 1), "seed \(seed)")
            }
        }
        for read in reads { _ = log.endRead(after: read.start) }
        if log.committing != nil {
            log.noteCommit(succeeded: false)
            _ = log.endCommit()
        }
        committed += log.takeForCommit()?.map(\.number) ?? []
        merged += log.takeForMain().map(\.number)
        #expect(committed == Array(1..<log.newest + 1), "seed \(seed)")
        #expect(merged == Array(1..<log.newest + 1), "seed \(seed)")
    }

    /// Fetches that overlap each other without end kept every save for ever.
    @Test func fetchesKeepOnlyWhatCameAfterTheirBeginning() {
        var log = SaveLog()
        var oldest = log.beginRead()
        weak var first: LoggedSave?
        for round in 1...3 {
            _ = log.append(anything)
            _ = log.takeForCommit()
            log.noteCommit(succeeded: true)
            _ = log.endCommit()
            let next = log.beginRead()
            let saves = log.endRead(after: oldest)
            #expect(saves.map(\.changes.number) == [Int64(round)])
            if round == 1 { first = saves.first }
            oldest = next
        }
        #expect(first == nil)
    }
}
