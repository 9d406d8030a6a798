import Foundation
import TestSupport
import Testing

/// The program does what the demo of LYCoreDataSource and the tests of Skopelos do.
struct AddressBookTests {
    @Test func theAddressBookShowsEveryChangeAndLeavesNothing() async throws {
        let run = try await Subprocess(PackageFiles.products.appending(component: "address-book").path, [])
        #expect(run.errors == "")
        #expect(run.status == 0)
        #expect(
            run.output == """
                A data source for each feature
                > opened: firstLaunch
                > add
                  insert section C at 0
                  insert section G at 1
                  insert section Z at 2
                  insert Cao Cao at 0.0
                  insert Guan Yu at 1.0
                  insert Guo Jia at 1.1
                  insert Zhang Fei at 2.0
                > edit: the same key, another name
                  delete section Z at 2
                  move Guan Ping at 2.0 -> 1.0
                > delete
                  delete Guan Yu at 1.1
                > one save over two data sources: a group leaves with its members
                  delete section C at 0
                  delete Guo Jia at 1.1
                  delete Cao Cao at 0.0
                > left: Shu with ["Guan Ping"]
                > another key: databaseKeyChanged, 2 objects dropped
                Active record
                > created: ["Guan Yu", "Zhang Fei"]
                > removed one: 1 left
                > in a group: 1
                > written in the background: 2 contacts
                > handled: validationFailed, uid
                > removed all: 0 contacts
                > nuked: 0 groups

                """)
    }
}
