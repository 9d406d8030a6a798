/// The names of types in the expressions of a class or a struct.
///
/// In an expression, the name of a property means the property, even if a type has the same name. The type is then written
/// with its module, as in `Swift.Int`. No property has the name of a module, because ``ReservedNames/members`` contains the
/// modules.
struct TypeReferences {
    /// The names of the properties, including inherited ones.
    let members: Set<String>

    func swift(_ type: String) -> String { reference(to: type, in: "Swift") }
    func foundation(_ type: String) -> String { reference(to: type, in: "Foundation") }
    func library(_ type: String) -> String { reference(to: type, in: "CoreDataSource") }

    private func reference(to type: String, in module: String) -> String {
        members.contains(type) ? "\(module).\(type)" : type
    }
}
