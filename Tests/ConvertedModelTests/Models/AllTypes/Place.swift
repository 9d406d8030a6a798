// Made by model-reset convert from the model AllTypes. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity(
    indexes: [
        FetchIndexDescription(name: "byTitle", elements: [FetchIndexDescription.Element(property: "title", isAscending: false), FetchIndexDescription.Element(property: "area")]),
    ])
nonisolated class Place: ManagedObject {
    @Stored(.composite) var address: Address?
    @Stored(isOptional: true) var area: Double
    @Stored(.composite) var origin: Coordinate
    var title: String = ""
    @Related(inverse: "children", onDelete: .deny) var owner: Parent?
}

nonisolated extension Place {
    /// The fetch request `TitledPlaces`: `title != ""`.
    static func fetchRequestTitledPlaces() throws -> ObjectRequest<Place> {
        try ObjectRequest(Place.self, where: FetchPredicate(format: "title != \"\""), limit: 20)
    }
}
