import CoreDataSource
import Foundation

nonisolated extension ManagedObjectModel {
    /// The model `Contacts`.
    static let contacts = ManagedObjectModel("Contacts") {
        BaseEntity.self
        ContactEntity.self
        GroupEntity.self
    }
}
