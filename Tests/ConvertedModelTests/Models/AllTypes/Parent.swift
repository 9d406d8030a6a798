import CoreDataSource
import Foundation

@StoredEntity(hashModifier: "second shape", userInfo: ["unit \\(x)": "a \"b\"\nc"])
nonisolated class Parent: Grandparent {
    @Stored(hashModifier: "trimmed") var name: String
    @Related(inverse: "owner", onDelete: .cascade, count: 1...9) var children: RelatedObjects<Place>
}
