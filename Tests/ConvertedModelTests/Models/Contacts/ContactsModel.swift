// Made by model-reset convert from the model Contacts. Change the model, not this file.
// swift-format-ignore-file

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
