import CoreDataSource
import Foundation
import TestSupport

/// A store with two data sources, the tables that show its lists, and whatever may happen to them.
@MainActor
final class ListReplay {
    let container: PersistentContainer
    let topics: TopicDataSource
    let letters: LetterDataSource
    /// The file, for writes of another program.
    let url: URL?
    var random: SeededRandom
    var tables: [String: ReplayTable] = [:]
    var windows: [ReplayWindow] = []
    /// Made at the first step.
    private(set) var totals: ReplayTotals?
    /// Objects that the app holds.
    private(set) var held: [ManagedObject] = []
    /// How many saves were made.
    var saveCount = 0
    /// How many more things delegates do in this step.
    private var actCount = 0
    private var isReading = false
    /// Whether a group of calls has begun and not ended, and whose it is.
    private(set) var isOpen = false
    private(set) weak var openTable: ReplayTable?
    private(set) var problems: [String] = []

    init(
        _ container: PersistentContainer, _ topics: TopicDataSource, _ letters: LetterDataSource, _ url: URL?,
        seed: UInt64
    ) {
        (self.container, self.topics, self.letters, self.url) = (container, topics, letters, url)
        random = SeededRandom(seed: seed)
    }

    private static let isTraced = ProcessInfo.processInfo.environment["COREDATASOURCE_LIST_TRACE"] != nil

    func record(_ event: @autoclosure () -> String) {
        guard Self.isTraced else { return }
        print(event())
        for (dataKey, table) in tables.sorted(by: { $0.key < $1.key }) where table.request.isOfTopics {
            print("    \(dataKey) \(table.shown.sections.map { $0.rows.map(\.content) })")
        }
    }

    func recordProblem(_ problem: String) { problems.append(problem) }

    /// Lets go of everything.
    func end() {
        (tables, windows, held, totals) = ([:], [], [], nil)
    }

    func hold(_ object: ManagedObject) {
        if held.count > 120 { held.removeFirst(60) }
        held.append(object)
    }

    /// Lets go of all objects, so that main makes them anew from rows.
    func forget() {
        held = []
        container.mainTier.forgetObjects()
    }

    func shown(_ dataKey: String, _ request: ReplayRequest) -> ShownList {
        reading {
            ShownList(
                sections: (0..<letters.numberOfSections(dataKey: dataKey)).map { section in
                    let rows = (0..<letters.numberOfItems(inSection: section, dataKey: dataKey)).compactMap { item in
                        letters.object(at: IndexPath(item: item, section: section), dataKey: dataKey).map {
                            ShownList.Row(key: $0.objectID.key, content: request.cell($0))
                        }
                    }
                    return ShownList.Section(
                        name: letters.sectionInfo(at: section, dataKey: dataKey)?.name ?? "", rows: rows)
                })
        }
    }

    /// Nobody is called in the middle of the body.
    func reading<R>(_ body: () throws -> R) rethrows -> R {
        let wasReading = isReading
        isReading = true
        defer { isReading = wasReading }
        return try body()
    }

    // MARK: Groups of calls

    func enter(_ table: ReplayTable) {
        if isReading { recordProblem("door: \(table.dataKey) reports in the middle of a read") }
        if isOpen { recordProblem("door: \(table.dataKey) reports inside a report of \(openTable?.dataKey ?? "none")") }
        (isOpen, openTable) = (true, table)
    }

    func leave(_ table: ReplayTable) {
        if openTable === table { isOpen = false }
    }

    /// What a delegate does in its call.
    func act(in table: ReplayTable) {
        guard actCount > 0, random.next(below: 4) == 0 else { return }
        actCount -= 1
        do {
            let event = random.next(below: 14)
            record("in \(table.dataKey): \(event)")
            switch event {
            case 0, 1: try save()
            case 2: try fetch()
            case 3: try register(dataKey(), orMove: table)
            case 4: pause()
            case 5, 10, 11: letters.pausedDataKeys = []
            case 6: for window in windows { try moveOrPause(window) }
            case 7: try moveTable(besides: table)
            case 8:
                // What was saved is merged while the rest of the group is still to come.
                try save()
                try fetch()
            case 9: forget()
            default: reading { for object in held.suffix(20) { _ = object.replayCell } }
            }
        } catch let error as DataSourceError where error.code == .storeReset {
            // The lists show a reset before its call has ended.
        } catch {
            recordProblem("error: \(error)")
        }
    }

    /// Some things happen, and then everything is compared.
    func step() async throws {
        actCount = 4
        if totals == nil { totals = try ReplayTotals(letters) }
        for _ in 0..<1 + random.next(below: 4) { try await performRandomEvent() }
        record("settle")
        try await waitUntilShown()
        record("compare")
        try await compare()
    }
}
