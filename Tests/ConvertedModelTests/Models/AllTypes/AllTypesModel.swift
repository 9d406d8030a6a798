// Made by model-reset convert from the model AllTypes. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

nonisolated extension ManagedObjectModel {
    /// The model `AllTypes`.
    static let allTypes = ManagedObjectModel(
        "AllTypes",
        configurations: [EntityConfiguration(name: "Families", entityNames: ["Child", "Parent"])],
        fetchRequests: [FetchRequestTemplate(name: "TitledPlaces", entityName: "Place", predicateFormat: "title != \"\"", fetchLimit: 20)],
        versionIdentifier: "1.0") {
        Bounded.self
        Child.self
        EveryType.self
        Grandparent.self
        Keywords.self
        Parent.self
        Place.self
        Special.self
        Étage.self
        Address.self
        Coordinate.self
    }
}
