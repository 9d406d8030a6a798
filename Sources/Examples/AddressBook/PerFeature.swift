import CoreDataSource
import Foundation

/// Uses a data source for each feature, as in the demo of LYCoreDataSource. The app adds values, and a list follows every save.
@MainActor
func keepPerFeature(in store: StoreLocation) async throws {
    let screen = Screen()
    let book = try await PersistentContainer(model: .addressBook, store: store, databaseKey: "1000")
    let groups = try book.dataSource(GroupDataSource.self)
    let contacts = try book.dataSource(ContactDataSource.self)
    screen.show("opened: \(book.startup.reason)")

    let everyone = ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
    try contacts.register(screen, dataKey: "everyone", everyone, sectionBy: \.initial)

    screen.show("add")
    try await groups.add([Group(gid: "shu", name: "Shu"), Group(gid: "wei", name: "Wei")])
    try await contacts.add([
        Contact(uid: "1", name: "Guan Yu", gid: "shu"),
        Contact(uid: "2", name: "Zhang Fei", gid: "shu"),
        Contact(uid: "3", name: "Cao Cao", gid: "wei"),
        Contact(uid: "4", name: "Guo Jia", gid: "wei"),
    ])

    screen.show("edit: the same key, another name")
    try await contacts.add(Contact(uid: "2", name: "Guan Ping", gid: "shu"))

    screen.show("delete")
    try await contacts.delete(Contact(uid: "1", name: "Guan Yu"))

    screen.show("one save over two data sources: a group leaves with its members")
    try await book.perform(in: contacts, groups) { contacts, groups in
        try contacts.delete(ContactEntity.self, where: \.group?.gid == "wei")
        try groups.delete(GroupEntity.self, where: \.gid == "wei")
    }
    for group in try groups.fetch(GroupEntity.self) {
        screen.show("left: \(group.name) with \(group.members.map(\.name))")
    }
    try await book.close()

    let emptied = try await PersistentContainer(model: .addressBook, store: store, databaseKey: "1001")
    screen.show("another key: \(emptied.startup.reason), \(emptied.startup.rowsDropped) objects dropped")
    try await emptied.close()
}

/// Prints the changes that a table view would animate. Each save makes one group of changes.
final class Screen: DataSourceDelegate {
    private var changes: [String] = []

    func show(_ step: String) { print("> \(step)") }

    func didChangeSection(_ section: ListSection, at index: Int, for type: ListChangeType, dataKey: String) {
        changes.append("\(type) section \(section.name) at \(index)")
    }

    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {
        guard let contact = object as? ContactEntity else { return }
        let positions = [indexPath, newIndexPath].compactMap { $0 }.map { "\($0.section).\($0.row)" }
        changes.append("\(type) \(contact.name) at \(positions.joined(separator: " -> "))")
    }

    func didChangeContent(dataKey: String) {
        for change in changes { print("  \(change)") }
        changes = []
    }
}
