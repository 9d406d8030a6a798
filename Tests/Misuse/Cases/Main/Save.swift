// error: value of type 'MainContext' has no member 'save'
import CoreDataSource

@MainActor func save(_ container: PersistentContainer) throws {
    try container.main.save()
}
