import CoreDataSource
import Foundation
import TestSupport

/// What happens in a replay.
extension ListReplay {
    func performRandomEvent() async throws {
        let event = random.next(below: 32)
        record("event \(event)")
        switch event {
        case 0..<8: try save()
        case 8..<13: try await saveAndWait()
        case 13..<16: try register(dataKey(), orMove: nil)
        case 16, 28, 29, 30: pause()
        case 17: letters.pausedDataKeys = []
        case 18: try fetch()
        case 19: container.mainTier.merge()
        case 20: try observe()
        case 21: for window in windows { try moveOrPause(window) }
        case 22: try await writeOutside()
        case 23: forget()
        case 24: try moveTable(besides: nil)
        case 25: refuse()
        case 26, 27: try changeTwice()
        default: if random.next(below: 6) == 0 { try await container.reset() }
        }
    }

    func dataKey() -> String { "list \(random.next(below: 12))" }

    /// A save that waits for nothing but its call.
    func save() throws {
        saveCount += 1
        let (ofTopics, seed) = (random.next(below: 3) == 0, random.next())
        let source: DataSource<String> = ofTopics ? topics : letters
        record("save, topics: \(ofTopics)")
        try source.performAndWait { try ReplayEdit.edit($0, ofTopics: ofTopics, isLarge: false, seed: seed) }
    }

    /// Two saves of one letter, which main merges at once. Main has no object of it before.
    private func changeTwice() throws {
        forget()
        let key = "l\(random.next(below: ReplayEdit.keyCount))"
        for _ in 0..<2 {
            saveCount += 1
            let (subject, isDeleted) = ("\(random.next(below: 10))", random.next(below: 4) == 0)
            try letters.performAndWait { context in
                let letter = try context.findOrInsert(Letter.self, where: \.key, equals: key)
                if isDeleted { context.delete(letter) } else { letter.subject = subject }
            }
        }
    }

    private func saveAndWait() async throws {
        saveCount += 1
        let (ofTopics, seed) = (random.next(below: 3) == 0, random.next())
        let isLarge = !ofTopics && random.next(below: 12) == 0
        let source: DataSource<String> = ofTopics ? topics : letters
        record("save and wait, topics: \(ofTopics), large: \(isLarge)")
        try await source.perform(waitFor: random.next(below: 2) == 0 ? .main : .store) {
            try ReplayEdit.edit($0, ofTopics: ofTopics, isLarge: isLarge, seed: seed)
        }
    }

    /// What a fetch finds matches, at any time.
    func fetch() throws {
        let subject = "\(random.next(below: 10))"
        let found = try reading { try letters.main.fetch(Letter.self, where: \.subject == subject) }
        for letter in found where letter.subject != subject || letter.isDeleted {
            recordProblem("fetch: \(letter) was found by the subject \(subject)")
        }
        for letter in found.prefix(4) { hold(letter) }
        for topic in try reading({ try topics.main.fetch(Topic.self) }).prefix(2) { hold(topic) }
    }

    // MARK: Tables

    func register(_ dataKey: String, orMove table: ReplayTable?) throws {
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
        record("register \(dataKey), second: \(isSecond)")
        new.reload()
    }

    /// Another table begins after one of its rows, or at the first one again.
    func moveTable(besides table: ReplayTable?) throws {
        let movable = tables.values.filter { $0 !== table && $0.request.isMovable }.sorted { $0.dataKey < $1.dataKey }
        guard let moved = movable.randomElement(using: &random) else { return }
        let objects = reading { letters.allObjects(dataKey: moved.dataKey) }.filter { !$0.isDeleted }
        let cursor = random.next(below: 3) == 0 ? nil : objects.randomElement(using: &random).map { FetchCursor($0) }
        try reading { try letters.moveWindow(dataKey: moved.dataKey, after: cursor) }
        moved.move(after: cursor)
    }

    func pause() { letters.pausedDataKeys.insert(dataKey()) }

    /// A list has no objects whose relationships could be followed.
    private func refuse() {
        let request = ObjectRequest<Letter>(
            where: FetchPredicate(#Predicate { $0.topic?.key.contains { $0.isLowercase } == true }))
        let refused = ReplayTable(.letters(request, sectionBy: nil, showsTitle: false), "refused", self)
        do {
            try letters.register(refused, dataKey: "refused", request)
            recordProblem("refused: a list follows relationships that it does not see")
        } catch let error as DataSourceError where error.code == .unsupportedQuery {
            // As documented.
        } catch {
            recordProblem("error: \(error)")
        }
    }

    // MARK: Windows

    private func observe() throws {
        if windows.count > 2 { windows.removeFirst() }
        windows.append(ReplayWindow(try reading { try letters.list(ReplayWindow.request(after: nil)) }))
    }

    func moveOrPause(_ window: ReplayWindow) throws {
        switch random.next(below: 4) {
        case 0: window.list.isPaused.toggle()
        case 1: try window.move(after: window.list.snapshot.last.map { FetchCursor($0) })
        case 2: try window.move(after: nil)
        default: break
        }
    }

    // MARK: Other programs

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
}
