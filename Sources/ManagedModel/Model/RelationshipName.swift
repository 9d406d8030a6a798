/// A relationship where it is declared.
package struct RelationshipName: Sendable, Hashable {
    package let entity: String
    package let name: String

    package init(entity: String, name: String) {
        self.entity = entity
        self.name = name
    }
}
