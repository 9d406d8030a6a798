// Made by model-reset convert from the model Graph. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredEntity
nonisolated class Person: ManagedObject {
    @Stored(unique: true) var key: String
    var name: String = ""
    @Related(inverse: "keeper", onDelete: .noAction, count: 0...3) var animals: RelatedObjects<Animal>
    @Related(inverse: "companions") var companions: [Person]
    @Related(inverse: "friends") var friends: RelatedObjects<Person>
    @Related(inverse: "author", onDelete: .deny) var letters: RelatedObjects<Letter>
    @Related(inverse: "holder", onDelete: .cascade) var passport: Passport?
    @Related(inverse: "spouse") var spouse: Person?
}
