import CoreDataSource
import CoreDataSourceActiveRecord

/// Chains reads and writes through class methods of the managed objects, in the style of the library Skopelos.
@MainActor
func keepAsActiveRecord() async throws {
    let book = try await PersistentContainer(model: .addressBook, store: .inMemory)
    let groups = try book.dataSource(GroupDataSource.self)
    let contacts = try book.dataSource(ContactDataSource.self)
    try writeInChains(book, groups, contacts)
    try await writeInBackground(book, contacts)
    try contacts
        .writeSync { context in try ContactEntity.removeAll(in: context) }
        .read { main in print("> removed all: \(try ContactEntity.count(in: main)) contacts") }
    try await book.nuke().readSync { main in print("> nuked: \(try GroupEntity.count(in: main)) groups") }
    try await book.close()
}

@MainActor
private func writeInChains(
    _ book: PersistentContainer, _ groups: GroupDataSource, _ contacts: ContactDataSource
) throws {
    try contacts
        .writeSync { context in
            for (uid, name) in [("1", "Guan Yu"), ("2", "Zhang Fei")] {
                let contact = try ContactEntity.create(in: context)
                contact.uid = uid
                contact.name = name
            }
        }
        .read { main in print("> created: \(try ContactEntity.all(in: main, order: [.ascending(\.uid)]).map(\.name))") }
        .writeSync { context in try ContactEntity.first(in: context, where: \.uid == "1")?.remove(in: context) }
        .read { main in print("> removed one: \(try ContactEntity.count(in: main)) left") }

    // Each block writes the entities of one data source, and can read all entities.
    try book
        .writeSync(in: groups) { context in try GroupEntity.create(in: context).gid = "shu" }
        .writeSync(in: contacts) { context in
            try ContactEntity.first(in: context)?.group = GroupEntity.first(in: context)
        }
        .readSync { main in print("> in a group: \(try ContactEntity.count(in: main, where: \.group?.gid == "shu"))") }
}

@MainActor
private func writeInBackground(_ book: PersistentContainer, _ contacts: ContactDataSource) async throws {
    let outcome = await withCheckedContinuation { continuation in
        contacts.writeAsync { context in
            try ContactEntity.create(in: context).uid = "3"
        } callback: { outcome in
            continuation.resume(returning: outcome)
        }
    }
    try outcome.get()
    print("> written in the background: \(try contacts.count(ContactEntity.self)) contacts")

    await withCheckedContinuation { continuation in
        book
            .handleError { failure in
                print("> handled: \(failure.error.code), \(failure.error.attributeName ?? "")")
                continuation.resume()
            }
            .writeAsync(in: contacts) { context in try ContactEntity.create(in: context).name = "Nobody" }
    }
}
