package import RowStore

/// What queries need to know of the objects that they find. Managed objects conform to it.
package protocol QueriedObject: AnyObject, SendableMetatype {
    /// The name of the entity in the model.
    static var entityName: String { get }
    /// The attribute that each key path of the class leads to.
    static var attributeKeyPaths: [AnyKeyPath: String] { get }
    /// The relationship that each key path of the class leads to.
    static var relationshipKeyPaths: [AnyKeyPath: String] { get }
    /// The attribute or relationship that each key path of an optional object of the class leads to.
    static var optionalKeyPaths: [AnyKeyPath: String] { get }
    /// The key path of the object's id, by which objects are compared.
    static var identification: AnyKeyPath { get }
    var layout: EntityLayout { get }
}
