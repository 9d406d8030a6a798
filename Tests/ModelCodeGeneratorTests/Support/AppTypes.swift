import ManagedModel

/// The types of the app's own that transformable attributes have.
enum AppTypes {
    /// The declarations of these types, so that the classes of the models compile.
    static func declarations(for models: [ManagedObjectModel]) -> String {
        let attributes = models.flatMap { $0.entities.flatMap(\.attributes) + $0.composites.flatMap(\.attributes) }
        let codable = Set(attributes.filter { $0.type == .transformable }.compactMap(\.customClassName))
        let names = codable.filter { name in
            name.wholeMatch(of: /[A-Z]\w*/) != nil && !["Any", "Data", "Date", "URL", "String"].contains(name)
                && !name.hasPrefix("NS")
                && !name.hasPrefix("UI")
        }
        return names.sorted().map { "public struct \($0): Codable, Sendable {}\n" }.joined()
    }
}
