import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Synchronization
import TestSupport
import Testing

/// The progress of `add` and `sync`.
@MainActor
struct ProgressTests {
    private final class Reports: Sendable {
        private let all = Mutex<[[Int]]>([])

        var progress: BatchProgress { BatchProgress { done, total in self.all.withLock { $0.append([done, total]) } } }

        func take() -> [[Int]] {
            all.withLock { all in
                defer { all = [] }
                return all
            }
        }
    }

    @Test func progressGrowsFromZeroToTheTotalInFewSteps() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let reports = Reports()
            try await contacts.add(contactList(0..<1_000), progress: reports.progress)
            let expected = [[0, 1_000], [256, 1_000], [512, 1_000], [768, 1_000], [1_000, 1_000]]
            #expect(reports.take() == expected)
            try await contacts.sync(contactList(0..<1_000), entity: ContactEntity.self, progress: reports.progress)
            #expect(reports.take() == expected)
            try await contacts.add(contactList(0..<60_000), progress: reports.progress)
            let many = reports.take()
            #expect(many.count > 60 && many.count <= 102)
            #expect(zip(many, many.dropFirst()).allSatisfy { $0[0] < $1[0] })
            #expect(many.first == [0, 60_000] && many.last == [60_000, 60_000])
            try await contacts.add(contactList(0..<256), progress: reports.progress)
            #expect(reports.take() == [[0, 256], [256, 256]])
            try await contacts.add([any Sendable](), progress: reports.progress)
            #expect(reports.take() == [[0, 0]])
        }
    }

    @Test func aCallThatThrowsDoesNotReportAll() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let reports = Reports()
            let list = contactList(0..<300) + [ContactData(uid: "p", name: "poison")]
            await expectThrows(Poison.self) { try await contacts.add(list, progress: reports.progress) }
            #expect(reports.take() == [[0, 301], [256, 301]])
        }
    }

    @Test func aProgressOfFoundationFollows() async throws {
        try await withContainer { container, _ in
            let people = try container.dataSource(KeyedContacts.self)
            let parent = Progress(totalUnitCount: 10)
            let progress = Progress(totalUnitCount: 1, parent: parent, pendingUnitCount: 5)
            try await people.sync(contactList(0..<700), progress: BatchProgress(progress))
            #expect(progress.totalUnitCount == 700 && progress.completedUnitCount == 700 && progress.isFinished)
            #expect(parent.fractionCompleted == 0.5)
            let nothing = Progress(totalUnitCount: 1, parent: parent, pendingUnitCount: 5)
            try await people.add([ContactData](), progress: BatchProgress(nothing))
            #expect(nothing.isFinished && parent.fractionCompleted == 1)
        }
    }

    /// A graph with a group and contacts.
    private func graph(_ count: Int) throws -> ObjectGraph {
        let contacts = (0..<count).map { #"{"uid": "\#($0)", "name": "n\#($0)"}"# }.joined(separator: ",")
        return try ObjectGraph(json: Data(#"{"GroupEntity": [{"gid": "7"}], "ContactEntity": [\#(contacts)]}"#.utf8))
    }

    @Test func anImportReportsItsObjects() async throws {
        try await withContainer { container, _ in
            _ = (try container.dataSource(ContactDataSource.self), try container.dataSource(GroupDataSource.self))
            let reports = Reports()
            for _ in 0..<2 {
                try await container.importGraph(try graph(999), progress: reports.progress)
                #expect(reports.take() == [[0, 1_000], [256, 1_000], [512, 1_000], [768, 1_000], [1_000, 1_000]])
            }
            try await container.importGraph(try ObjectGraph(json: Data("{}".utf8)), progress: reports.progress)
            #expect(reports.take() == [[0, 0]])
            let file = try TemporaryDirectory()
            let url = file.url.appending(component: "graph.json")
            try graph(20).json.write(to: url)
            let progress = Progress(totalUnitCount: 0)
            try await container.importGraph(contentsOf: url, progress: BatchProgress(progress))
            #expect(progress.totalUnitCount == 21 && progress.isFinished)
        }
    }

    @Test func aCancelledImportChangesNothing() async throws {
        try await withContainer { container, _ in
            _ = (try container.dataSource(ContactDataSource.self), try container.dataSource(GroupDataSource.self))
            let progress = Progress(totalUnitCount: 0)
            progress.cancel()
            let objects = try graph(10)
            await expectThrows(CancellationError.self) {
                try await container.importGraph(objects, progress: BatchProgress(progress))
            }
            #expect(try container.main.count(ContactEntity.self) == 0 && progress.completedUnitCount == 0)
        }
    }

    /// Cancelling leaves nothing, whenever it comes before the save.
    @Test(arguments: [0, 1, 300, 999])
    func aCancelledProgressEndsTheCall(place: Int) async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(PausingSource.self)
            let progress = Progress(totalUnitCount: 0)
            let cancel: @Sendable () throws -> Void = { progress.cancel() }
            let list = contactList(0..<1_000).enumerated().map { index, data in
                PausingContact(data: data, pause: index == place ? cancel : nil)
            }
            await expectThrows(CancellationError.self) {
                try await contacts.add(list, progress: BatchProgress(progress))
            }
            #expect(progress.completedUnitCount < 1_000 && !progress.isFinished)
            await expectThrows(CancellationError.self) {
                try await contacts.sync(list, entity: ContactEntity.self, progress: BatchProgress(progress))
            }
            #expect(try contacts.count(ContactEntity.self) == 0)
            #expect(
                try await contacts.add(list, progress: BatchProgress(Progress(totalUnitCount: 0))).inserted == 1_000)
        }
    }
}

private final class KeyedContacts: KeyedDataSource<ContactData, ContactEntity> {
    override class var key: ObjectKey<ContactData, ContactEntity> { ObjectKey(\.uid, \.uid) }

    override func update(_ contact: ContactEntity, from data: ContactData, in context: PrivateContext) {
        contact.name = data.name
    }
}
