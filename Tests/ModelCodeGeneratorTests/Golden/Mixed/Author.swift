// The classes that the author of the model writes.
package import CoreDataSource

package class Branch: ManagedObject {
    package override class var entityName: String { "Branch" }
    package override class var attributeKeyPaths: [AnyKeyPath: String] { [\Branch.city: "city"] }

    package var city: String {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }
}

package class Book: ManagedObject {
    package override class var entityName: String { Book.Generated.entityName }
    package override class var attributeKeyPaths: [AnyKeyPath: String] { Book.Generated.attributeKeyPaths }
}

package class Atlas: Book {
    package override class var entityName: String { Atlas.Generated.entityName }
    package override class var attributeKeyPaths: [AnyKeyPath: String] { Atlas.Generated.attributeKeyPaths }
}
