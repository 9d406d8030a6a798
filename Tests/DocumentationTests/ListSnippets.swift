import CoreDataSource
import Foundation
import FrameworkNames
import Testing

/// Shows a list on a terminal: the calls are those of a table view.
@MainActor
final class TerminalList: DataSourceDelegate {
    private(set) var lines: [String] = []

    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {
        guard let contact = object as? ContactEntity else { return }
        lines.append("\(type) \(contact.name)")
    }

    func didChangeContent(dataKey: String) { lines.append("--") }
}

/// The snippets about lists.
@MainActor
struct ListSnippets {
    @Test func aDelegateIsNotifiedOfEachChange() async throws {
        try await withContacts { _, contacts in
            let view = TerminalList()
            let request = ObjectRequest(ContactEntity.self, where: \.age >= 18, order: [.ascending(\.name)])
            try contacts.register(view, dataKey: "list", request, sectionBy: \.isFavorite)
            try await contacts.add(Contact(uid: "3", name: "Guan Ping", age: 18))
            #expect(contacts.numberOfItems(inSection: 0, dataKey: "list") == 3)
            #expect(contacts.sectionInfo(at: 0, dataKey: "list")?.name == "false")
            #expect(view.lines == ["insert Guan Ping", "--"])
            try await contacts.registerOffMain(view, dataKey: "all", request)
            #expect(contacts.numberOfItems(inSection: 0, dataKey: "all") == 3)
        }
    }

    private func line(_ change: ListDifference.Change) -> String {
        switch (change.index, change.newIndex) {
        case (let index?, let newIndex?):
            "\(change.type) from \(index) to \(newIndex)"
        case (let index?, nil): "delete at \(index)"
        case (nil, let newIndex): "insert at \(newIndex ?? 0)"
        }
    }

    @Test func aChangeHasItsOldAndItsNewIndex() async throws {
        try await withContacts { _, contacts in
            let request = ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
            var updates = contacts.updates(request).makeAsyncIterator()
            _ = await updates.next()
            try await contacts.perform { context in
                try context.delete(ContactEntity.self, where: \.uid == "1")
                try context.first(ContactEntity.self, where: \.uid, equals: "2")?.note = "brave"
            }
            let update = await updates.next()
            let lines = update?.difference.changes.map(line) ?? []
            #expect(lines.sorted() == ["delete at 1", "update from 2 to 1"])
        }
    }

    @Test func aLoopFollowsAList() async throws {
        var counts: [Int] = []
        try await withContacts { container, contacts in
            let request = ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
            let serve = Task {
                for await update in contacts.updates(request) {
                    counts.append(update.snapshot.count)
                    if update.snapshot.count == 4 { break }
                }
            }
            try await contacts.add(Contact(uid: "4", name: "Zhao Yun"))
            await serve.value
        }
        #expect(counts.last == 4)
    }

    @Test func aListHasSections() async throws {
        try await withContacts { _, contacts in
            let list = try contacts.list(
                ObjectRequest(ContactEntity.self, order: [.ascending(\.name)]), sectionBy: \.isFavorite)
            for section in list.sections { print(section.name, list.snapshot[section.range].map(\.name)) }
            #expect(list.sections.map(\.range) == [0..<3])
        }
    }

    @Test func totalsFollowSaves() async throws {
        try await withContacts { _, contacts in
            let totals = try contacts.liveAggregate(
                ObjectRequest(ContactEntity.self, where: \.age >= 18), .count(), .max(\.age))
            let (count, oldest) = totals.value
            #expect(count == 2 && oldest != nil)
        }
    }

    @Test func sectionsHaveTitlesInAnOrderOfTheirOwn() async throws {
        try await withContacts { _, contacts in
            var request = ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
            request.sections = .titles(
                \.group?.name, orderedBy: .descending(\.group?.gid))
            let list = try contacts.list(request)
            #expect(list.sections.map(\.numberOfObjects).reduce(0, +) == 3)
        }
    }

    @Test func aWindowTurnsThePage() async throws {
        try await withContacts { _, contacts in
            let list = try contacts.list(ObjectRequest(ContactEntity.self, order: [.ascending(\.name)], limit: 2))
            try list.moveWindow(after: list.snapshot.last.map { FetchCursor($0) })
            #expect(list.snapshot.map(\.name) == ["Zhang Fei"])
        }
    }
}
