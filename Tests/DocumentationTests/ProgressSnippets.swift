import CoreDataSource
import DataSourceTesting
import Foundation
import FrameworkNames
import Testing

final class AddressBookDataSource: DataSource<Never> {
    nonisolated override class var entities: [ManagedObject.Type] {
        [ContactEntity.self, GroupEntity.self]
    }
}

/// The examples of following a call, and of a contract that needs objects of other data sources.
@MainActor
struct ProgressSnippets {
    private let list = [Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")]

    @Test func aCallIsFollowed() async throws {
        try await withContacts { _, contacts in
            try await contacts.add(
                list,
                progress: BatchProgress { completed, total in
                    print("\(completed) of \(total)")
                })
            let progress = Progress(totalUnitCount: 0)
            try await contacts.add(list, progress: BatchProgress(progress))
            #expect(progress.isFinished)
        }
        try await withContacts { _, contacts in
            let serverList = list
            let progress = Progress(totalUnitCount: 0)
            try await contacts.sync(serverList, progress: BatchProgress(progress))
            #expect(progress.isFinished)
        }
    }

    @Test func anAppWithoutValuesHasADataSource() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let book = try container.dataSource(AddressBookDataSource.self)
        try await book.perform { context in
            let contact = try context.insert(ContactEntity.self)
            contact.uid = "1"
            contact.name = "Guan Yu"
        }
        #expect(try container.main.count(ContactEntity.self) == 1)
        try await container.close()
    }

    @Test func aContractHasObjectsOfOthers() async throws {
        let contract = DataSourceContract(
            RecruitDataSource.self, model: .contacts, entity: ContactEntity.self,
            values: [Recruit(uid: "1", gid: "7"), Recruit(uid: "2", gid: "7")]
        ) { container in
            let groups = try await container.dataSource(GroupDataSource.self)
            try await groups.add(Group(gid: "7", name: "Oath"))
        }
        #expect(try await contract.violations() == [])
    }
}
