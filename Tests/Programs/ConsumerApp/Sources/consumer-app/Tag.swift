import CoreDataSource

/// Written by hand: the model says `category`, so its properties are generated in an extension.
class Tag: ManagedObject {
    override class var entityName: String { Tag.Generated.entityName }

    override class var attributeKeyPaths: [AnyKeyPath: String] {
        Tag.Generated.attributeKeyPaths
    }

    /// How a list of tags shows it.
    var title: String { isPinned ? "* \(name)" : name }
}
