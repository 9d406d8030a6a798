// Made by model-reset convert from the model AllTypes. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity(hashModifier: "second shape", userInfo: ["unit \\(x)": "a \"b\"\nc"])
nonisolated class Parent: Grandparent {
    @Stored(hashModifier: "trimmed") var name: String
    @Related(inverse: "owner", onDelete: .cascade, count: 1...9) var children: RelatedObjects<Place>
}
