// error: cannot convert value of type 'Int' to expected argument type '[String]'
import CoreDataSource

func add(_ contacts: ContactDataSource) async throws {
    try await contacts.add(5)
}
