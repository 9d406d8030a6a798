import CoreDataSource
import DataSourceTesting
import Foundation
import FrameworkNames
import ModelReader
import TestSupport
import Testing

/// The examples in the comments on models.
struct ModelSnippets {
    private let model = ManagedObjectModel.contacts

    @Test func elementsAreDescribed() throws {
        let subject = AttributeDescription(
            name: "subject", type: .string, defaultValue: .string(""), maximum: .integer(200))
        let attachment = EntityDescription(
            name: "AttachmentEntity", attributes: [AttributeDescription(name: "name", type: .string)],
            uniquenessConstraints: [["name"]])
        let messages = RelationshipDescription(
            name: "messages", destinationName: "MessageEntity", inverseName: "thread", isToMany: true,
            deleteRule: .cascade)
        let back = RelationshipDescription(
            name: "thread", destinationName: "ThreadEntity", inverseName: "messages", isOptional: true)
        let message = EntityDescription(name: "MessageEntity", attributes: [subject], relationships: [back])
        let thread = EntityDescription(name: "ThreadEntity", relationships: [messages])
        let model = ManagedObjectModel(name: "Mail", entities: [message, thread])
        try model.validate()
        #expect(model.entities.count == 2 && attachment.attributes.count == 1)
        let column = ColumnDescription(name: "subject", role: .attribute(subject), isStored: true)
        #expect(model.columns(of: message).first == column)
    }

    @Test func indexesAndRequestsAreDescribed() {
        let byDate = FetchIndexDescription(name: "byDate", elements: [.init(property: "date", isAscending: false)])
        let byMailboxAndDate = FetchIndexDescription(
            name: "byMailboxAndDate",
            elements: [.init(property: "mailbox"), .init(property: "date", isAscending: false)])
        #expect(byMailboxAndDate.elements.count == 2)
        let newestFirst = FetchIndexDescription.Element(property: "date", isAscending: false)
        #expect(byDate.elements == [newestFirst])
        let template = FetchRequestTemplate(
            name: "Unread", entityName: "MessageEntity", predicateFormat: "isRead == NO")
        let unread = FetchedPropertyDescription(name: "unread", fetchRequest: template)
        #expect(unread.fetchRequest == template)
        let address = CompositeDescription(
            name: "Address", attributes: [AttributeDescription(name: "city", type: .string)])
        #expect(address.attributes.count == 1)
    }

    @Test func entitiesAreFound() throws {
        let contact = try #require(model.entity(named: "ContactEntity"))
        let names = model.lineage(of: contact).map(\.name)  // ["ContactEntity", "BaseEntity"]
        #expect(names == ["ContactEntity", "BaseEntity"])
        let count = model.family(ofEntityNamed: "BaseEntity").count  // 3
        #expect(count == 3)
        let form = model.canonicalForm(of: contact)
        #expect(model.canonicalForm.contains(form))
    }

    @Test func childrenAreFound() {
        let contact = model.entity(named: "ContactEntity")
        let names = model.children(ofEntityNamed: "BaseEntity").map(\.name)  // ["ContactEntity", "GroupEntity"]
        #expect(names == ["ContactEntity", "GroupEntity"] && contact?.parentName == "BaseEntity")
    }

    @Test func columnsHaveNames() throws {
        let group = try #require(model.entity(named: "GroupEntity"))
        let names = model.columns(of: group).map(\.name)  // ["syncFlag", "gid", "memberCount", "name"]
        #expect(names == ["syncFlag", "gid", "memberCount", "name"])
    }

    @Test func aModelHasAHash() {
        let hash = ModelHash(high: 1, low: 2)
        let earlier = EarlierVersion(hashes: [hash.description], entityNames: ["ContactEntity": "PersonEntity"])
        #expect(earlier.hashes.count == 1)
        #expect(ModelHash(hashing: model.canonicalForm) == model.hash)
        #expect(ModelHash(model.hash.description) == model.hash)
    }

    @Test func aConfigurationRestrictsAModel() throws {
        let cache = EntityConfiguration(name: "Cache", entityNames: ["GroupEntity"])
        let group = EntityDescription(name: "GroupEntity")
        let whole = ManagedObjectModel(
            name: "Notes", entities: [group, EntityDescription(name: "TagEntity")], configurations: [cache])
        try restrict(whole)
    }

    private func restrict(_ model: ManagedObjectModel) throws {
        let cache = try model.restricted(toConfiguration: "Cache")
        #expect(cache.entities.map(\.name) == ["GroupEntity"])
    }

    @Test func faultsAreErrors() {
        let error = ModelError(.invalidName, entity: "Mail.Message", "A name contains a dot. Leave the dot out.")
        let tooManyEntities = ModelError.Code("tooManyEntities")
        #expect(error.code != tooManyEntities)
    }
}

/// The examples in the comments on model files.
struct ModelFileSnippets {
    private let directory: TemporaryDirectory
    private var url: URL { directory.url.appending(component: "Contacts.xcdatamodeld") }

    /// A bundle of three versions.
    init() throws {
        directory = try TemporaryDirectory()
        let bundle = directory.url.appending(component: "Contacts.xcdatamodeld")
        let source = PackageFiles.root.appending(path: "Models/Contacts.xcdatamodeld/Contacts.xcdatamodel")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        for name in ["Contacts", "Contacts 2", "Contacts 3"] {
            try FileManager.default.copyItem(at: source, to: bundle.appending(component: "\(name).xcdatamodel"))
        }
    }

    @Test func aBundleHasVersions() throws {
        let bundle = try ModelBundle(at: url)
        print(bundle.name, bundle.versions)
        let earlier = bundle.versions(before: "Contacts 3")  // ["Contacts", "Contacts 2"]
        #expect(earlier == ["Contacts", "Contacts 2"])
    }

    @Test func aVersionIsRead() throws {
        let model = try ModelReader.read(url, version: "Contacts 2").model
        #expect(model.version == "Contacts 2")
        let document = ModelDocument(model: model)
        #expect(document.diagnostics.isEmpty)
    }

    @Test func aModelIsFoundByItsName() throws {
        guard (try? ModelReader.read(named: "Contacts")) != nil else { return }
        let model = try ModelReader.read(named: "Contacts").model
        #expect(model.name == "Contacts")
    }

    @Test func contentsAreRead() throws {
        let contents = url.appending(path: "Contacts.xcdatamodel/contents")
        let document = try ModelReader.read(data: Data(contentsOf: contents), name: "Contacts")
        #expect(document.model.hash == ManagedObjectModel.contacts.hash)
    }

    @Test func faultsNameTheFile() {
        let diagnostic = ModelDiagnostic(file: "contents", line: 7, message: "The attribute has no type.")
        print(diagnostic)  // contents:7: warning: The attribute has no type.
        #expect(diagnostic.description == "contents:7: warning: The attribute has no type.")
        let error = ModelReaderError(.notFound, file: url.path, "There is no model here.")
        #expect(error.description.hasSuffix("There is no model here."))
    }
}

/// The examples in the comments on contracts.
struct ContractSnippets {
    private let contract = DataSourceContract(
        ContactDataSource.self, model: .contacts, entity: ContactEntity.self,
        values: [Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")])

    @Test func contactsKeepTheContract() async throws { try await contract.check() }

    @Test func violationsNameTheirRules() async throws {
        for violation in try await contract.violations() { print(violation) }
        let adding = try await contract.violations().filter(isOfAdding)
        #expect(adding.isEmpty)
    }

    private func isOfAdding(_ violation: DataSourceViolation) -> Bool {
        let isAdding = violation.rule == DataSourceRule(rawValue: "adding")
        return isAdding
    }

    @Test func aContractMayHaveRefusedValues() async throws {
        let contract = DataSourceContract(
            ContactDataSource.self, model: .contacts, entity: ContactEntity.self,
            values: [Contact(uid: "1", name: "Guan Yu"), Contact(uid: "2", name: "Zhang Fei")],
            refused: [Contact(uid: "", name: "")])
        // The data source refuses no contact.
        #expect(try await contract.violations().map(\.rule) == [.throwing])
    }
}

/// The examples in the comments on fixtures.
@MainActor
struct FixtureSnippets {
    @Test func aFixtureIsCompared() async throws {
        let directory = try TemporaryDirectory()
        let url = directory.url.appending(component: "before.json")
        try Data("{\"ContactEntity\": [{\"uid\": \"1\", \"name\": \"Guan Yu\"}]}".utf8).write(to: url)
        let after = GraphFixture(
            ObjectGraph(), model: .contacts, dataSources: [ContactDataSource.self, GroupDataSource.self])

        let fixture = try GraphFixture(
            contentsOf: url, model: .contacts, dataSources: [ContactDataSource.self, GroupDataSource.self])
        let container = try await fixture.container()
        try await container.dataSource(ContactDataSource.self).delete(Contact(uid: "1", name: ""))
        #expect(try await after.difference(from: container) == nil)
        try await container.close()
    }

    @Test nonisolated func aFixtureMakesContainers() async throws {
        let directory = try TemporaryDirectory()
        let url = directory.url.appending(component: "graph.json")
        try ObjectGraph().json.write(to: url)
        let fixture = try GraphFixture(contentsOf: url, model: .contacts, dataSources: [ContactDataSource.self])
        let container = try await fixture.container()
        let contacts = try await container.dataSource(ContactDataSource.self)
        #expect(try await contacts.count(ContactEntity.self) == 0)
        try await container.close()
    }

    @Test func aGraphIsAFixture() async throws {
        try await withContacts { container, _ in
            let graph = try await container.read { try $0.exportGraph(of: [ContactEntity.self]) }
            let fixture = GraphFixture(graph, model: .contacts, dataSources: [ContactDataSource.self])
            let difference = try await fixture.difference(from: container)
            #expect(difference == nil)
        }
    }
}
