import CoreDataSource
import Foundation
import TestSupport

/// A store with two data sources, the tables that show its lists, and whatever may happen to them.
@MainActor
final class ListReplay {
    private let container: PersistentContainer
    private let topics: TopicDataSource
    private let letters: LetterDataSource
    /// The file, for writes of another program.
    private let url: URL?
    private var random: SeededRandom
    private var tables: [String: ReplayTable] = [:]
    private var observed: [LiveList<Letter>] = []
    /// Objects that the app holds.
    private var held: [ManagedObject] = []
    /// How many more things delegates do in this step.
    private var actCount = 0
    private var isReading = false
    /// Whether a group of calls has begun and not ended, and whose it is.
    private var isOpen = false
    private weak var openTable: ReplayTable?
    private(set) var complaints: [String] = []

    init(
        _ container: PersistentContainer, _ topics: TopicDataSource, _ letters: LetterDataSource, _ url: URL?,
        seed: UInt64
    ) {
        (self.container, self.topics, self.letters, self.url) = (container, topics, letters, url)
        random = SeededRandom(seed: seed)
    }

    func complain(_ complaint: String) { complaints.append(complaint) }

    /// Lets go of everything.
    func end() {
        (tables, observed, held) = ([:], [], [])
    }

    func hold(_ object: ManagedObject) {
        if held.count > 120 { held.removeFirst(60) }
        held.append(object)
    }

    func shown(_ dataKey: String) -> ShownList {
        reading {
            ShownList(
                sections: (0..<letters.numberOfSections(dataKey)).map { section in
                    let rows = (0..<letters.numberOfItems(dataKey, inSection: section)).compactMap { item in
                        letters.object(at: IndexPath(item: item, section: section), dataKey: dataKey).map {
                            ShownList.Row(key: $0.objectID.key, content: $0.replayCell)
                        }
                    }
                    return ShownList.Section(
                        name: letters.sectionInfo(at: section, dataKey: dataKey)?.name ?? "", rows: rows)
                })
        }
    }

    private func reading<R>(_ body: () throws -> R) rethrows -> R {
        let wasReading = isReading
        isReading = true
        defer { isReading = wasReading }
        return try body()
    }

    // MARK: Groups of calls

    func enter(_ table: ReplayTable) {
        if isReading { complain("door: \(table.dataKey) reports in the middle of a read") }
        if isOpen { complain("door: \(table.dataKey) reports inside a report of \(openTable?.dataKey ?? "none")") }
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
            switch random.next(below: 9) {
            case 0, 1: try save()
            case 2: try fetch()
            case 3: try register(dataKey(), orMove: table)
            case 4: pause()
            case 5: letters.pausedDataKeys = []
            case 6: for list in observed { try moveOrPause(list) }
            default: reading { for object in held.suffix(20) { _ = object.replayCell } }
            }
        } catch let error as DataSourceError where error.code == .storeReset {
            // The lists show a reset before its call has ended.
        } catch {
            complain("error: \(error)")
        }
    }

    // MARK: What happens

    /// Some things happen, and then everything is compared.
    func step() async throws {
        actCount = 4
        for _ in 0..<1 + random.next(below: 4) { try await happen() }
        try await settle()
        try await compare()
    }

    private func happen() async throws {
        switch random.next(below: 24) {
        case 0..<8: try save()
        case 8..<13: try await saveAndWait()
        case 13..<16: try register(dataKey(), orMove: nil)
        case 16: pause()
        case 17: letters.pausedDataKeys = []
        case 18: try fetch()
        case 19: container.mainTier.merge()
        case 20: try observe()
        case 21: for list in observed { try moveOrPause(list) }
        case 22: try await writeOutside()
        default: if random.next(below: 6) == 0 { try await container.reset() }
        }
    }

    private func dataKey() -> String { "list \(random.next(below: 7))" }

    /// A save that waits for nothing but its call.
    private func save() throws {
        let (ofTopics, seed) = (random.next(below: 3) == 0, random.next())
        let source: DataSource<String> = ofTopics ? topics : letters
        try source.performAndWait { try ReplayEdit.edit($0, ofTopics: ofTopics, isLarge: false, seed: seed) }
    }

    private func saveAndWait() async throws {
        let (ofTopics, seed) = (random.next(below: 3) == 0, random.next())
        let isLarge = !ofTopics && random.next(below: 12) == 0
        let source: DataSource<String> = ofTopics ? topics : letters
        try await source.perform(waitFor: random.next(below: 2) == 0 ? .main : .store) {
            try ReplayEdit.edit($0, ofTopics: ofTopics, isLarge: isLarge, seed: seed)
        }
    }

    /// What a fetch finds matches, at any time.
    private func fetch() throws {
        let subject = "\(random.next(below: 10))"
        let found = try reading { try letters.main.fetch(Letter.self, where: \.subject == subject) }
        for letter in found where letter.subject != subject || letter.isDeleted {
            complain("fetch: \(letter) was found by the subject \(subject)")
        }
        for letter in found.prefix(4) { hold(letter) }
        for topic in try reading({ try topics.main.fetch(Topic.self) }).prefix(2) { hold(topic) }
    }

    private func register(_ dataKey: String, orMove table: ReplayTable?) throws {
        // A delegate does not cut its own group off.
        if dataKey == table?.dataKey { return }
        if random.next(below: 5) == 0 {
            letters.unregister(dataKey: dataKey)
            tables[dataKey] = nil
            return
        }
        // Often a second observer of a query that is shown already.
        let others = tables.values.sorted { $0.dataKey < $1.dataKey }
        let isSecond = random.next(below: 3) == 0 && !others.isEmpty
        let request = isSecond ? others[random.next(below: others.count)].request : try ReplayRequest(&random)
        let new = ReplayTable(request, dataKey, self)
        try reading { try request.register(new, dataKey, letters) }
        tables[dataKey] = new
        new.reload()
    }

    private func pause() { letters.pausedDataKeys.insert(dataKey()) }

    private func observe() throws {
        if observed.count > 2 { observed.removeFirst() }
        let request = FetchRequest(Letter.self, order: [.ascending(\.subject), .ascending(\.key)], limit: 4)
        observed.append(try reading { try letters.list(request) })
    }

    private func moveOrPause(_ list: LiveList<Letter>) throws {
        switch random.next(below: 4) {
        case 0: list.isPaused.toggle()
        case 1: try list.moveWindow(after: list.snapshot.last.map { FetchCursor($0) })
        case 2: try list.moveWindow(after: nil)
        default: break
        }
    }

    /// Another program changes values, but no links: whose objects lead elsewhere is not known then.
    private func writeOutside() async throws {
        guard let url else { return }
        try await container.flush()
        let raw = try RawConnection(url)
        try raw.execute("PRAGMA busy_timeout = 10000")
        let subject = random.next(below: 10)
        try raw.execute("UPDATE \"Letter\" SET \"subject\" = '\(subject)' WHERE \"key\" = 'l\(random.next(below: 14))'")
        try raw.execute("UPDATE \"Topic\" SET \"title\" = '\(subject % 4)' WHERE \"key\" = 't\(random.next(below: 5))'")
        container.stack.root.noticeOutsideWrites()
    }

    // MARK: Comparing

    private func settle() async throws {
        letters.pausedDataKeys = []
        for list in observed { list.isPaused = false }
        var newest: Int64 = -1
        repeat {
            newest = container.stack.root.newestSave
            container.mainTier.merge()
            await container.mainTier.listsAreSettled()
            // What delegates have resumed and paused again.
            letters.pausedDataKeys = []
            for list in observed { list.isPaused = false }
        } while newest != container.stack.root.newestSave
        if isOpen { complain("door: a group of \(openTable?.dataKey ?? "none") has not ended") }
    }

    private func compare() async throws {
        for (dataKey, table) in tables.sorted(by: { $0.key < $1.key }) {
            let fresh = ReplayTable(table.request, "fresh", self)
            try table.request.register(fresh, "fresh", letters)
            fresh.reload()
            if table.shown != fresh.shown {
                complain(
                    "\(table.shown.keys == fresh.shown.keys ? "cells" : "table"): \(dataKey) of \(table.request) shows \(table.shown) instead of \(fresh.shown)"
                )
            }
            let answered = shown(dataKey)
            if answered != fresh.shown { complain("objects: \(dataKey) answers \(answered) instead of \(fresh.shown)") }
            letters.unregister(dataKey: "fresh")
        }
        for list in observed {
            for (index, row) in list.snapshot.enumerated() where list.object(index)?.subject != row.subject {
                complain("observed: \(row) has the object \(String(describing: list.object(index)))")
            }
        }
        try await compareObjects()
    }

    /// Every object that is held is main's, and what another context finds.
    private func compareObjects() async throws {
        let cells = try await container.read { context in
            var cells: [ManagedObjectID: String] = [:]
            for letter in try context.fetch(Letter.self) { cells[letter.objectID] = letter.replayCell }
            for topic in try context.fetch(Topic.self) { cells[topic.objectID] = topic.replayCell }
            return cells
        }
        for object in held {
            let cell = cells[object.objectID]
            if object.isDeleted != (cell == nil) {
                complain("objects: \(object) says that it is \(object.isDeleted ? "" : "not ")deleted")
            } else if let cell, object.replayCell != cell {
                complain("objects: \(object.replayCell) instead of \(cell)")
            }
            guard !object.isDeleted else { continue }
            let own = try letters.main.object(ManagedObject.self, id: object.objectID)
            if own !== object { complain("objects: \(object) is not main's") }
        }
    }
}
