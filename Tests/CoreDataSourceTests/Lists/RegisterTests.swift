import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Lists bound to a delegate: what is reported, call by call.
@MainActor
struct RegisterTests {
    /// Contacts whose name's first letter is their section.
    private func withList(
        _ names: [String], on kind: StoreKind = .inMemory,
        _ body: @MainActor (ContactDataSource, RecordingDelegate, PersistentContainer) async throws -> Void
    ) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<names.count) { names[$0] })
            let delegate = RecordingDelegate()
            try contacts.register(
                delegate, dataKey: "list", ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]),
                sectionBy: \.firstLetter)
            delegate.follow(contacts, "list")
            try await body(contacts, delegate, container)
            #expect(delegate.problems == [])
        }
    }

    private func contact(_ number: Int, _ name: String, _ phone: String? = nil) -> ContactData {
        ContactData(uid: "uid-\(number)", name: name, phone: phone ?? (number % 2 == 0 ? "\(number)" : nil))
    }

    private func names(_ contacts: ContactDataSource) -> [String] {
        contacts.allObjects(dataKey: "list", as: ContactEntity.self).map(\.name)
    }

    @Test(arguments: StoreKind.allCases)
    func aListIsFilledWhenItIsRegistered(kind: StoreKind) async throws {
        try await withList(["Bob", "Al", "Ann"], on: kind) { contacts, delegate, _ in
            #expect(names(contacts) == ["Al", "Ann", "Bob"])
            #expect(contacts.numberOfSections(dataKey: "list") == 2)
            #expect(contacts.numberOfItems(inSection: 0, dataKey: "list") == 2)
            #expect(contacts.sectionInfo(at: 0, dataKey: "list")?.name == "A")
            #expect(contacts.sectionInfo(at: 1, dataKey: "list")?.numberOfObjects == 1)
            #expect(contacts.sectionIndexTitles(dataKey: "list") == ["A", "B"])
            let place = IndexPath(item: 1, section: 0)
            let ann = try #require(contacts.object(at: place, dataKey: "list", as: ContactEntity.self))
            #expect(ann.name == "Ann")
            #expect(contacts.indexPath(of: ann.objectID, dataKey: "list") == place)
            #expect(contacts.object(at: IndexPath(item: 2, section: 0), dataKey: "list") == nil)
            #expect(delegate.calls.isEmpty)
        }
    }

    /// What a row is compared with may be its object itself, which a save must be asked with too.
    @Test func aListMayBeOfCertainObjectsOrOfAFormat() async throws {
        try await withList(["Al", "Ann", "Bob"]) { contacts, _, _ in
            let ann = try #require(try contacts.main.first(ContactEntity.self, where: \.name == "Ann"))
            let chosen = RecordingDelegate()
            try contacts.register(
                chosen, dataKey: "chosen",
                ObjectRequest(
                    ContactEntity.self,
                    where: FetchPredicate(format: "SELF == %@ OR name BEGINSWITH[c] %@", ann.objectID, "c")))
            #expect(contacts.allObjects(dataKey: "chosen", as: ContactEntity.self).map(\.name) == ["Ann"])
            try await contacts.add([contact(1, "Anna"), contact(2, "Bobby"), contact(3, "Cem")], waitFor: .main)
            #expect(contacts.allObjects(dataKey: "chosen", as: ContactEntity.self).map(\.name) == ["Anna", "Cem"])
        }
    }

    // MARK: Predicates that ask the objects

    @Test(arguments: StoreKind.allCases)
    func aPredicateThatAsksTheObjectsIsAskedAgainAfterEachSave(kind: StoreKind) async throws {
        try await withList(["Al", "bob", "cem"], on: kind) { contacts, _, container in
            let predicate = FetchPredicate<ContactEntity>(
                #Predicate<ContactEntity> { $0.name.contains { $0.isUppercase } && $0.name < "x" })
            let delegate = RecordingDelegate()
            try contacts.register(
                delegate, dataKey: "asking",
                ObjectRequest(
                    ContactEntity.self, where: predicate, order: [FetchOrder(SortDescriptor(\.name))], limit: 2))
            delegate.follow(contacts, "asking")
            @MainActor func names() -> [String] {
                contacts.allObjects(dataKey: "asking", as: ContactEntity.self).map(\.name)
            }
            #expect(names() == ["Al"])
            #expect(contacts.lastUpdateReason(dataKey: "asking")?.requeriesStore == true)
            try await contacts.add([contact(1, "Bob"), contact(3, "Ann"), contact(4, "Zoe")], waitFor: .main)
            #expect(names() == ["Al", "Ann"])
            let why = try #require(contacts.lastUpdateReason(dataKey: "asking"))
            #expect(why.requeriesStore && why.didReadStore && why.ranOffMain)
            #expect(why.saves == 2...2)
            #expect(why.sources == ["ContactDataSource"])
            #expect(why.attributes == ["name"])
            try await contacts.delete(contact(0, ""), waitFor: .main)
            #expect(names() == ["Ann", "Bob"])
            #expect(contacts.lastUpdateReason(dataKey: "asking")?.saves == 3...3)
            let groups = try container.dataSource(GroupDataSource.self)
            try await groups.add(GroupData(gid: "1", name: "One"), waitFor: .main)
            #expect(
                contacts.lastUpdateReason(dataKey: "asking")?.saves == 3...3, "it is not asked about other entities")
            try await contacts.add(contact(3, "ann"), waitFor: .main)
            #expect(names() == ["Bob", "Zoe"])
            #expect(delegate.problems == [])
            #expect(contacts.lastUpdateReason(dataKey: "list")?.requeriesStore == false)
        }
    }

    @Test func aPredicateThatFailsIsReportedAndTriedAgain() async throws {
        try await withList(["Al", "Bob"]) { contacts, _, _ in
            try await contacts.delete(contact(1, ""), waitFor: .main)
            let delegate = RecordingDelegate()
            let predicate = FetchPredicate(#Predicate<ContactEntity> { $0.phone!.utf8.count < 3 })
            try contacts.register(delegate, dataKey: "asking", ObjectRequest(ContactEntity.self, where: predicate))
            #expect(contacts.numberOfItems(inSection: 0, dataKey: "asking") == 1)
            try await contacts.add(contact(3, "no phone"), waitFor: .main)
            #expect(delegate.failures.map(\.code) == [.predicateFailed])
            #expect(contacts.lastUpdateReason(dataKey: "asking")?.failure?.code == .predicateFailed)
            #expect(contacts.numberOfItems(inSection: 0, dataKey: "asking") == 1)
            try await contacts.add(contact(3, "a phone", "33"), waitFor: .main)
            #expect(contacts.numberOfItems(inSection: 0, dataKey: "asking") == 2)
            #expect(contacts.lastUpdateReason(dataKey: "asking")?.saves == 3...4)
        }
    }

    // MARK: Reports

    @Test func insertsAreReportedWithTheirNewPlaces() async throws {
        try await withList(["Al", "Bob"]) { contacts, delegate, _ in
            try await contacts.add([contact(2, "Ann"), contact(3, "Cem")], waitFor: .main)
            #expect(
                delegate.takeCalls() == ["will", "insert section 2 C", "insert - [0, 1]", "insert - [2, 0]", "did"])
        }
    }

    @Test func deletesAreReportedWithTheirOldPlaces() async throws {
        try await withList(["Al", "Ann", "Bob"]) { contacts, delegate, _ in
            try await contacts.delete([contact(0, ""), contact(2, "")], waitFor: .main)
            #expect(
                delegate.takeCalls() == ["will", "delete section 1 B", "delete [1, 0] -", "delete [0, 0] -", "did"])
        }
    }

    @Test func aChangeInItsPlaceIsAnUpdate() async throws {
        try await withList(["Al", "Ann", "Bob"]) { contacts, delegate, _ in
            try await contacts.add(contact(1, "Ann", "new"), waitFor: .main)
            #expect(delegate.takeCalls() == ["will", "update [0, 1] -", "did"])
            try await contacts.add(contact(1, "Anna", "new"), waitFor: .main)
            #expect(
                delegate.takeCalls() == ["will", "update [0, 1] -", "did"], "its sort key changed, its place did not")
        }
    }

    /// Only what changed is reported, though others have other places afterwards.
    @Test func aMoveIsReportedWithoutThoseThatItPushes() async throws {
        try await withList(["Aa", "Ab", "Ac", "Ad"]) { contacts, delegate, _ in
            try await contacts.add(contact(0, "Az"), waitFor: .main)
            #expect(delegate.takeCalls() == ["will", "move [0, 0] [0, 3]", "did"])
        }
    }

    @Test func aMoveIsNotReportedForRowsThatOnlyShift() async throws {
        try await withList(["Aa", "Ab", "Ac"]) { contacts, delegate, _ in
            try await contacts.perform(waitFor: .main) { context in
                try context.first(ContactEntity.self, where: \.uid, equals: "uid-0").map { context.delete($0) }
                try context.first(ContactEntity.self, where: \.uid, equals: "uid-2")?.phone = "new"
            }
            #expect(delegate.takeCalls() == ["will", "delete [0, 0] -", "update [0, 2] -", "did"])
        }
    }

    /// The last of one section becomes the first of the next: the same index over all, but another place.
    @Test func anotherSectionIsAMove() async throws {
        try await withList(["Al", "Ann", "Bob"]) { contacts, delegate, _ in
            try await contacts.add(contact(1, "Ba"), waitFor: .main)
            #expect(delegate.takeCalls() == ["will", "move [0, 1] [1, 0]", "did"])
            try await contacts.add(contact(0, "Cem"), waitFor: .main)
            #expect(
                delegate.takeCalls() == [
                    "will", "delete section 0 A", "insert section 1 C", "move [0, 0] [1, 0]", "did",
                ])
        }
    }

    @Test func enteringAndLeavingByThePredicateAreInsertAndDelete() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<4))
            let delegate = RecordingDelegate()
            try contacts.register(
                delegate, dataKey: "list",
                ObjectRequest(
                    ContactEntity.self, where: \ContactEntity.phone != nil, order: [FetchOrder(SortDescriptor(\.name))])
            )
            delegate.follow(contacts, "list")
            try await contacts.add([contact(1, "name 1", "1"), contact(3, "other")], waitFor: .main)
            #expect(delegate.takeCalls() == ["will", "insert - [0, 1]", "did"])
            try await contacts.perform(waitFor: .main) { context in
                try context.first(ContactEntity.self, where: \.uid, equals: "uid-0")?.phone = nil
            }
            #expect(delegate.takeCalls() == ["will", "delete [0, 0] -", "did"])
            #expect(delegate.problems == [])
        }
    }

    @Test func aSyncOfTheSameListReportsNothing() async throws {
        try await withList(["Al", "Ann", "Bob"]) { contacts, delegate, _ in
            let list = contactList(0..<3) { ["Al", "Ann", "Bob"][$0] }
            try await contacts.sync(list, entity: ContactEntity.self, waitFor: .main)
            #expect(delegate.takeCalls().count == 5, "the objects get their sync flag")
            try await contacts.sync(list, entity: ContactEntity.self, waitFor: .main)
            #expect(delegate.takeCalls() == [])
        }
    }

    @Test func oneSaveIsOneReport() async throws {
        try await withList(["Al"]) { contacts, delegate, _ in
            let list = contactList(0..<30) { ["Al", "Bob", "Cem"][$0 % 3] + "\($0)" }
            try await contacts.sync(list, entity: ContactEntity.self, waitFor: .main)
            let calls = delegate.takeCalls()
            #expect(calls.count { $0 == "will" } == 1)
            #expect(calls.count { $0.hasPrefix("insert -") } == 29)
            #expect(calls.last == "did")
        }
    }

    @Test func otherEntitiesAreNotReported() async throws {
        try await withList(["Al"]) { contacts, delegate, container in
            let groups = try container.dataSource(GroupDataSource.self)
            try await groups.add(GroupData(gid: "1", name: "one"), waitFor: .main)
            #expect(delegate.takeCalls() == [])
        }
    }

    @Test func theReasonNamesTheSaveTheSourceAndTheAttributes() async throws {
        try await withList(["Al", "Bob"]) { contacts, _, _ in
            #expect(contacts.lastUpdateReason(dataKey: "list")?.kind == .initial)
            try await contacts.add(contact(1, "Bo", "new"), waitFor: .main)
            let why = try #require(contacts.lastUpdateReason(dataKey: "list"))
            #expect(why.kind == .save)
            #expect(why.saves == 2...2)
            #expect(why.sources == ["ContactDataSource"])
            #expect(why.entities == ["ContactEntity"])
            #expect(why.attributes == ["name", "phone"])
            #expect(why.rowCount == 1)
            #expect(why.microseconds > 0)
            #expect(!why.requeriesStore && !why.didReadStore)
        }
    }

    // MARK: Registering

    @Test func registeringAgainSwapsQueryAndDelegate() async throws {
        try await withList(["Al", "Bob"]) { contacts, delegate, _ in
            let other = RecordingDelegate()
            try contacts.register(
                other, dataKey: "list",
                ObjectRequest(
                    ContactEntity.self, where: \ContactEntity.name < "B",
                    order: [FetchOrder(SortDescriptor(\.name, order: .reverse))]))
            #expect(contacts.numberOfSections(dataKey: "list") == 1)
            #expect(names(contacts) == ["Al"])
            try await contacts.add([contact(2, "Ann"), contact(3, "Cem")], waitFor: .main)
            #expect(delegate.takeCalls() == [])
            #expect(other.takeCalls() == ["will", "insert - [0, 0]", "did"])
        }
    }

    @Test func unregisteringEndsTheCalls() async throws {
        try await withList(["Al"]) { contacts, delegate, _ in
            contacts.unregister(dataKey: "list")
            try await contacts.add(contact(1, "Bob"), waitFor: .main)
            #expect(delegate.takeCalls() == [])
            #expect(contacts.numberOfSections(dataKey: "list") == 0)
            #expect(contacts.allObjects(dataKey: "list").isEmpty)
            #expect(contacts.dataKeys == [])
        }
    }

    @Test func theListOfADeadDelegateGoes() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            var delegate: RecordingDelegate? = RecordingDelegate()
            try contacts.register(try #require(delegate), dataKey: "list", ObjectRequest(ContactEntity.self))
            #expect(contacts.dataKeys == ["list"])
            #expect(container.mainTier.followedQueryCount == 1)
            delegate = nil
            #expect(contacts.numberOfSections(dataKey: "list") == 0)
            #expect(contacts.dataKeys == [])
            #expect(container.mainTier.followedQueryCount == 0)
        }
    }

    @Test func theListOfADeadDelegateGoesWithTheNextSave() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try contacts.register(RecordingDelegate(), dataKey: "list", ObjectRequest(ContactEntity.self))
            #expect(container.mainTier.followedQueryCount == 1)
            try await contacts.add(contactList(0..<1), waitFor: .main)
            #expect(container.mainTier.followedQueryCount == 0)
        }
    }

    @Test func aDataKeyIsANameOfItsDataSource() async throws {
        try await withList(["Al"]) { contacts, delegate, container in
            let groups = try container.dataSource(GroupDataSource.self)
            try groups.register(delegate, dataKey: "list", ObjectRequest(GroupEntity.self))
            #expect(groups.numberOfItems(inSection: 0, dataKey: "list") == 0)
            #expect(contacts.numberOfItems(inSection: 0, dataKey: "list") == 1)
        }
    }

    @Test func aPausedListCatchesUpWithOneReport() async throws {
        try await withList(["Al", "Bob"]) { contacts, delegate, _ in
            contacts.pausedDataKeys.insert("list")
            try await contacts.add(contact(2, "Cem"), waitFor: .main)
            try await contacts.add([contact(3, "Ann"), contact(2, "Bea")], waitFor: .main)
            try await contacts.delete(contact(0, ""), waitFor: .main)
            #expect(delegate.takeCalls() == [])
            #expect(names(contacts) == ["Al", "Bob"])
            contacts.pausedDataKeys.remove("list")
            #expect(
                delegate.takeCalls() == ["will", "delete [0, 0] -", "insert - [0, 0]", "insert - [1, 0]", "did"])
            #expect(names(contacts) == ["Ann", "Bea", "Bob"])
            try await contacts.delete(contact(1, ""), waitFor: .main)
            #expect(delegate.takeCalls() == ["will", "delete [1, 1] -", "did"])
        }
    }

    @Test func onlyRegisteredListsArePaused() async throws {
        try await withList(["Al"]) { contacts, delegate, _ in
            contacts.pausedDataKeys = ["list", "other"]
            #expect(contacts.pausedDataKeys == ["list"])
            try contacts.register(delegate, dataKey: "other", ObjectRequest(ContactEntity.self))
            #expect(contacts.pausedDataKeys == ["list"])
            try contacts.register(delegate, dataKey: "list", ObjectRequest(ContactEntity.self))
            #expect(contacts.pausedDataKeys == [])
            contacts.pausedDataKeys.insert("list")
            try contacts.moveWindow(dataKey: "list", after: nil)
            #expect(contacts.pausedDataKeys == [])
            contacts.pausedDataKeys.insert("list")
            contacts.unregister(dataKey: "list")
            #expect(contacts.pausedDataKeys == [])
        }
    }

    @Test func aListThatStaysPausedReportsNothing() async throws {
        try await withList(["Al"]) { contacts, delegate, _ in
            let other = RecordingDelegate()
            try contacts.register(other, dataKey: "other", ObjectRequest(ContactEntity.self))
            contacts.pausedDataKeys = ["list", "other"]
            try await contacts.add(contact(1, "Ann"), waitFor: .main)
            contacts.pausedDataKeys = ["other"]
            #expect(delegate.takeCalls() == ["will", "insert - [0, 1]", "did"])
            #expect(other.takeCalls() == [])
            contacts.pausedDataKeys = []
            #expect(other.takeCalls() == ["will", "insert - [0, 1]", "did"])
        }
    }

    @Test func listsOfOneQueryShareTheirWork() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let delegate = RecordingDelegate()
            for key in ["a", "b"] {
                try contacts.register(
                    delegate, dataKey: key,
                    ObjectRequest(
                        ContactEntity.self, where: \ContactEntity.name > "x",
                        order: [FetchOrder(SortDescriptor(\.name))])
                )
            }
            try contacts.register(
                delegate, dataKey: "c", ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.name)]))
            #expect(container.mainTier.followedQueryCount == 2)
        }
    }

    @Test func anInvalidRequestIsAnError() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let delegate = RecordingDelegate()
            expectError(.unknownEntity) {
                try contacts.register(delegate, dataKey: "list", ObjectRequest(Sender.self))
            }
            expectError(.unknownAttribute) {
                try contacts.register(
                    delegate, dataKey: "list", ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.firstLetter)])
                )
            }
            #expect(contacts.dataKeys == [])
        }
    }
}

extension ContactEntity {
    /// A section that no attribute holds.
    fileprivate var firstLetter: String { String(name.prefix(1)) }
}
