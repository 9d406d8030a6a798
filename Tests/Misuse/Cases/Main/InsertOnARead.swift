// error: value of type 'ReadContext' has no member 'insert'
import CoreDataSource

func insert(_ container: PersistentContainer) async throws {
    try await container.read { _ = try $0.insert(Contact.self) }
}
