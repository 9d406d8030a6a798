// error: is unavailable: The main context only reads, and follows every save.
import CoreDataSource

@MainActor func save(_ container: PersistentContainer) throws {
    try container.main.save()
}
