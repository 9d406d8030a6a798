// error: is unavailable: An update sets only attributes. Set a relationship in perform.
import CoreDataSource

final class Company: ManagedObject {
    override class var relationshipKeyPaths: [AnyKeyPath: String] { [\Company.owner: "owner"] }

    var owner: Contact? {
        get { relatedObject(at: 0) }
        set { setRelatedObject(newValue, at: 0) }
    }
}

func disown(_ contacts: ContactDataSource) async throws {
    try await contacts.update(Company.self, set: [.set(\.owner, nil)])
}
