/// A value that stands for a stored object: its id.
package protocol ObjectReference {
    /// The name of the object's own entity.
    var entityName: String { get }
    var key: Int64 { get }
}
