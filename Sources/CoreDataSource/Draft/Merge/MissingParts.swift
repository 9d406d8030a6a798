internal import ManagedModel
internal import RowStore

/// The required parts of optional composites for which a row has no value, although the composites are not nil. Such a row comes
/// from a record of an earlier model, which did not have these parts.
struct MissingParts {
    /// The default values of the model, by column; null for a part without a default value.
    private(set) var defaults: [Int: RowValue] = [:]
    private let row: RowSnapshot
    private let layout: EntityLayout
    private let composites: [CompositeDescription]

    init(in row: RowSnapshot, _ layout: EntityLayout, of model: ManagedObjectModel) {
        (self.row, self.layout, composites) = (row, layout, model.composites)
        guard !composites.isEmpty, let entity = model.entity(named: layout.name) else { return }
        for owner in model.lineage(of: entity) { find(in: owner.attributes, under: "", isInOptional: false) }
    }

    /// - Parameters:
    ///   - path: The names of the composites around the attributes, each with a dot.
    ///   - isInOptional: Whether any of these composites is optional. Optional composites that are nil are left out.
    private mutating func find(in attributes: [AttributeDescription], under path: String, isInOptional: Bool) {
        for attribute in attributes where !attribute.isTransient {
            let name = path + attribute.name
            if let composite = composites.first(where: { $0.name == attribute.compositeName }) {
                let parts = "\(name).".utf8
                let isNil = layout.columns.indices.allSatisfy { column in
                    !layout.columns[column].name.utf8.starts(with: parts) || row.isNull(column)
                }
                if attribute.isOptional, isNil { continue }
                find(
                    in: composite.attributes, under: "\(name).", isInOptional: isInOptional || attribute.isOptional)
            } else if isInOptional, !attribute.isOptional, attribute.derivationExpression == nil,
                let column = layout.column(named: name), row.isNull(column)
            {
                defaults[column] = RowValue(defaultOf: attribute) ?? .null
            }
        }
    }
}
