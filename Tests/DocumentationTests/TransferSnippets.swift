import CoreDataSource
import DataSourceTesting
import Foundation
import FrameworkNames
import TestSupport
import Testing

/// The snippets of the article on transfer, and of that on testing about fixtures.
@MainActor
struct TransferSnippets {
    private static let brothers = """
        {
          "ContactEntity": [
            {"uid": "1", "name": "Guan Yu", "group": "7"},
            {"uid": "2", "name": "Zhang Fei", "phone": null, "group": "7"}
          ],
          "GroupEntity": [
            {"gid": "7", "name": "Oath"}
          ]
        }
        """

    private func withFile(_ body: @MainActor (URL) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(component: "brothers.json")
        try Data(Self.brothers.utf8).write(to: file)
        try await body(file)
    }

    @Test func aGraphGoesFromOneStoreToAnother() async throws {
        try await withFile { file in
            let container = try await PersistentContainer(model: .contacts, store: .inMemory)
            let contacts = try container.dataSource(ContactDataSource.self)
            let groups = try container.dataSource(GroupDataSource.self)

            let report = try await container.importGraph(contentsOf: file)
            print("\(report.inserted) new, \(report.updated) changed")

            #expect(report == SaveReport(inserted: 3))
            #expect(try groups.fetch(GroupEntity.self).first?.members.count == 2)

            let everything = try await container.read {
                try $0.exportGraph(of: [GroupEntity.self, ContactEntity.self])
            }
            try everything.json.write(to: file)

            let brothers = ObjectRequest<GroupEntity>(where: \.gid == "7")
            let graph = try await container.read { try $0.exportGraph(brothers, following: [\GroupEntity.members]) }

            #expect(graph == everything)
            #expect(try await container.importGraph(contentsOf: file) == SaveReport())
            let progress = Progress(totalUnitCount: 0)
            try await container.importGraph(
                contentsOf: file, progress: BatchProgress(progress))
            #expect(progress.totalUnitCount == 3 && progress.isFinished)
            #expect(try contacts.count(ContactEntity.self) == 2)
            try await container.close()
        }
    }

    @Test func aTestBeginsAndEndsWithAFixture() async throws {
        try await withFile { before in
            let after = before.deletingLastPathComponent().appending(component: "after.json")
            try Data("{\"GroupEntity\": [{\"gid\": \"7\", \"name\": \"Oath\"}], \"ContactEntity\": []}".utf8)
                .write(to: after)

            func fixture(_ file: URL) throws -> GraphFixture {
                try GraphFixture(
                    contentsOf: file, model: .contacts, dataSources: [ContactDataSource.self, GroupDataSource.self])
            }
            let container = try await fixture(before).container()
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.delete([Contact(uid: "1", name: ""), Contact(uid: "2", name: "")])
            #expect(try await fixture(after).difference(from: container) == nil)

            let difference = try await fixture(before).difference(from: container)
            #expect(difference == "the number of objects of ContactEntity is 0 instead of 2")
            try await contacts.add([Contact(uid: "1", name: "Yunchang"), Contact(uid: "2", name: "Zhang Fei")])
            #expect(
                try await fixture(before).difference(from: container)
                    == "ContactEntity[0].group is null instead of \"7\"")
            try await container.close()
        }
    }
}
