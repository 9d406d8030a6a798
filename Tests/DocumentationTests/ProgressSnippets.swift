import CoreDataSource
import DataSourceTesting
import Foundation
import FrameworkNames
import Testing

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
